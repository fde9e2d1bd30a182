import type { Invoke, LocalFunction } from "../template/functions.ts";
import { localRegion } from "../template/intrinsics.ts";
import { createFunctionPool } from "./function-pool.ts";

interface FunctionsOptions {
  /** Variables of a function beside its own, with its endpoint of AWS and the access key by which it is recognized there. */
  readonly createVariables: (fn: LocalFunction) => Readonly<Record<string, string>>;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  readonly log: (line: string) => void;
}

/** Creates a pool of execution environments for every function. */
export function createFunctions(
  functions: readonly LocalFunction[],
  { createVariables, ...poolOptions }: FunctionsOptions,
) {
  const pools = new Map(
    functions.map((fn) => {
      const variables = { ...lambdaVariables(fn), ...createVariables(fn) };
      return [fn, createFunctionPool(fn, { variables, ...poolOptions })];
    }),
  );
  const invoke: Invoke = async (fn, payload) => pools.get(fn)?.invoke(payload);
  return {
    invoke,
    async stop() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

/**
 * The environment variables of a function: those of Lambda that the SDK reads and the function's own, but none of the
 * developer's.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
const lambdaVariables = (fn: LocalFunction): Record<string, string> => ({
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_REGION: localRegion,
  AWS_SECRET_ACCESS_KEY: "local",
  TZ: ":UTC",
  ...fn.environment,
});
