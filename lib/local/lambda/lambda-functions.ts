import { join } from "node:path";
import type { Invoke, LocalFunction } from "../template/functions.ts";
import { createFunctionPool, type FunctionPool } from "./function-pool.ts";
import { type DynamoDbAccess, lambdaVariables } from "./lambda-variables.ts";

interface Options {
  /** The DynamoDB endpoint and access key id of each function. */
  readonly accessDynamoDb: (fn: LocalFunction) => DynamoDbAccess;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  readonly log: (line: string) => void;
}

/** The functions of a stack, ready to be invoked. */
export interface Functions {
  readonly invoke: Invoke;
  /** Switches to the code in another directory, which has a folder for each function. */
  reload(bundles: string): void;
  stop(): Promise<void>;
}

/** Creates a pool of execution environments for every function. */
export function createFunctions(
  functions: readonly LocalFunction[],
  { accessDynamoDb, ...poolOptions }: Options,
): Functions {
  const pools = new Map<LocalFunction, FunctionPool>();
  for (const fn of functions) {
    const variables = lambdaVariables(fn, accessDynamoDb(fn));
    pools.set(fn, createFunctionPool(fn, { variables, ...poolOptions }));
  }
  return {
    invoke: async (fn, payload) => pools.get(fn)?.invoke(payload),
    reload(bundles) {
      for (const [{ label }, pool] of pools) pool.reload(join(bundles, label));
    },
    async stop() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
