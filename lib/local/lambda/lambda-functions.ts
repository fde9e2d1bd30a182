import type { Invoke, LocalFunction } from "../template/functions.ts";
import { localRegion } from "../template/intrinsics.ts";
import { FunctionPool } from "./function-pool.ts";

/** The endpoint of AWS for a function, and the access key id by which it identifies itself there. */
interface AwsAccess {
  readonly endpoint: string;
  readonly accessKeyId: string;
}

interface FunctionsOptions {
  readonly accessAws: (fn: LocalFunction) => AwsAccess;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  /** Variables of all functions beside their own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** Creates a pool of execution environments for every function. */
export function createFunctions(
  functions: readonly LocalFunction[],
  { accessAws, environment, ...poolOptions }: FunctionsOptions,
) {
  const pools = new Map(
    functions.map((fn) => {
      const variables = { ...buildVariables(fn, accessAws(fn)), ...environment };
      return [fn, new FunctionPool(fn, { variables, ...poolOptions })];
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
 * Builds all environment variables of a function: those of Lambda that the SDK reads and the function's own, but none
 * of the developer's.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
const buildVariables = (fn: LocalFunction, aws: AwsAccess): Record<string, string> => ({
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: aws.accessKeyId,
  AWS_SECRET_ACCESS_KEY: "local",
  // Of every service: no function reaches AWS itself.
  AWS_ENDPOINT_URL: aws.endpoint,
  TZ: ":UTC",
  ...fn.environment,
});
