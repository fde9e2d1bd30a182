import { join } from "node:path";
import type { Invoke } from "../gateway/request-handler.ts";
import { type Sign, startIamProxy } from "../iam/iam-proxy.ts";
import type { LocalFunction } from "../template/functions.ts";
import { partitionKeyAttribute, type TableDefinition } from "../template/table-definition.ts";
import { createFunctionPool, type FunctionPool } from "./function-pool.ts";
import { lambdaVariables } from "./lambda-variables.ts";

interface Options {
  /** The engine's. */
  readonly endpoint: string;
  readonly sign: Sign;
  /** How many requests each function serves at once; more wait. */
  readonly maxEnvironments: number;
  readonly log: (line: string) => void;
}

/** The functions of a stack, ready to be called. */
export interface Functions {
  readonly invoke: Invoke;
  /** Serves by the code in another directory, which has a folder for each function. */
  reload(bundles: string): void;
  stop(): Promise<unknown>;
}

/** Makes a pool for every function, and their way to the engine. */
export async function startFunctions(
  { functions, table }: { readonly functions: readonly LocalFunction[]; readonly table: TableDefinition },
  { endpoint, sign, maxEnvironments, log }: Options,
): Promise<Functions> {
  const partitionKeyFor = (index?: string) => partitionKeyAttribute(table, index);
  const proxy = await startIamProxy({ endpoint, partitionKeyAttribute: partitionKeyFor, sign, log });
  const pools = new Map<LocalFunction, FunctionPool>();
  for (const fn of functions) {
    const variables = lambdaVariables(fn, { endpoint: proxy.endpoint, accessKeyId: proxy.accessKeyFor(fn) });
    pools.set(fn, createFunctionPool(fn, { variables, maxEnvironments, log }));
  }
  return {
    invoke: async (fn, payload) => pools.get(fn)?.invoke(payload),
    reload(bundles) {
      for (const [{ label }, pool] of pools) pool.reload(join(bundles, label));
    },
    async stop() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      proxy.close();
    },
  };
}
