import { inject, vi } from "vitest";
import type { MaintainerOptions } from "./maintainer.ts";
import { type FaultyTable, startFaultyTable } from "./proxy.ts";
import { emptyAccount, readTable, type Stored } from "./stored.ts";

/** The routes over the test file's own table, with a way to it on which calls may go wrong. */
export interface FaultyApi extends MaintainerOptions {
  readonly table: FaultyTable;
  /** What the engine itself holds of an account. */
  stored(account: string): Promise<Stored>;
}

/** Sets the way up; whatever uses the table is to be imported after it, for clients take their endpoint once. */
export async function startFaultyApi(): Promise<FaultyApi> {
  const { endpoint: engine, assembly } = inject("engine");
  const tableName = String(process.env.TABLE_NAME);
  const table = await startFaultyTable(engine);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", table.endpoint);
  // What is turned away is logged, and it is meant to be.
  vi.spyOn(console, "error").mockImplementation(() => {});
  const stored = async (account: string) =>
    (await readTable(engine, tableName)).get(account) ?? emptyAccount();
  return { table, engine, tableName, assembly, stored };
}
