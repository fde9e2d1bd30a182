import { inject, vi } from "vitest";
import { engineEndpoint } from "../support/engine-endpoint.ts";
import type { MaintainerOptions } from "./maintainer.ts";
import { type FaultyTable, startFaultyTable } from "./proxy.ts";
import { readStored, type Stored } from "./stored.ts";

/** The routes on the test file's table, behind a proxy that injects faults. */
export interface FaultyApi extends MaintainerOptions {
  readonly table: FaultyTable;
  /** Reads what the engine itself holds of an account. */
  stored(account: string): Promise<Stored>;
}

/** Starts the proxy. Import modules that use the table after it, because clients read their endpoint once. */
export async function startFaultyApi(): Promise<FaultyApi> {
  const { assembly } = inject("engine");
  const tableName = String(process.env.TABLE_NAME);
  const table = await startFaultyTable(engineEndpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", table.endpoint);
  // Rejected requests are logged, as intended.
  vi.spyOn(console, "error").mockImplementation(() => {});
  const stored = (account: string) => readStored(engineEndpoint, tableName, account);
  return { table, engine: engineEndpoint, tableName, assembly, stored };
}
