import { inject, vi } from "vitest";
import { engineEndpoint } from "../support/engine-endpoint.ts";
import { startFaultyTable } from "./proxy.ts";
import { readStored } from "./stored.ts";

/** The routes on the test file's table, behind a proxy that injects faults. */
export type FaultyApi = Awaited<ReturnType<typeof startFaultyApi>>;

/** Starts the proxy. Import modules that use the table after it, because clients read their endpoint once. */
export async function startFaultyApi() {
  const { assembly } = inject("engine");
  const tableName = String(process.env.TABLE_NAME);
  const table = await startFaultyTable(engineEndpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", table.endpoint);
  // Rejected requests are logged, as intended.
  vi.spyOn(console, "error").mockImplementation(() => {});
  /** Reads what the engine itself holds of an account. */
  const stored = (account: string) => readStored(engineEndpoint, tableName, account);
  return { table, engine: engineEndpoint, tableName, assembly, stored };
}
