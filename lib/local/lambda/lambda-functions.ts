import type { Invoke, LocalFunction } from "../template/functions.ts";
import { localRegion } from "../template/intrinsics.ts";
import { FunctionPool } from "./function-pool.ts";

/** The DynamoDB endpoint of a function, and the access key id by which it identifies itself there. */
interface DynamoDbAccess {
  readonly endpoint: string;
  readonly accessKeyId: string;
}

interface FunctionsOptions {
  readonly accessDynamoDb: (fn: LocalFunction) => DynamoDbAccess;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  /** Variables of all functions beside their own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** Creates a pool of execution environments for every function. */
export function createFunctions(
  functions: readonly LocalFunction[],
  { accessDynamoDb, environment, ...poolOptions }: FunctionsOptions,
) {
  const pools = new Map(
    functions.map((fn) => {
      const variables = { ...buildVariables(fn, accessDynamoDb(fn)), ...environment };
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
const buildVariables = (fn: LocalFunction, dynamodb: DynamoDbAccess): Record<string, string> => ({
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: dynamodb.accessKeyId,
  AWS_SECRET_ACCESS_KEY: "local",
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
  TZ: ":UTC",
  ...fn.environment,
});
