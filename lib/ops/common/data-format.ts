import { releaseKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { dataFormat } from "../../../shared/dynamodb/stored-release.ts";
import { readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { isBusy } from "../../../shared/dynamodb/throttling.ts";
import { UserError } from "../../errors.ts";
import { releaseName } from "../../release.ts";

/** Reads the release of the table, and the names of the upgrades that it has. Without a release, it has the first format. */
export async function readStoredRelease() {
  const deadline = Date.now() + 10_000;
  const item = await withRetry(() => readItem(releaseKey), { deadline, isRetryable: isBusy });
  const stored = { releaseName: "1.0.0", dataFormat: 1, upgrades: new Set<string>(), ...item };
  return stored as Pick<typeof stored, "releaseName" | "dataFormat" | "upgrades">;
}

/**
 * Checks that this program writes what the release of the table reads.
 *
 * @throws UserError for another data format
 */
export async function checkDataFormat(): Promise<void> {
  const { releaseName: deployed, dataFormat: stored } = await readStoredRelease();
  if (stored === dataFormat) return;
  throw new UserError(
    `The table ${tableName} is of the release ${deployed} with the data format ${stored}, but this is ${releaseName()} with the data format ${dataFormat}: nothing was written. Check out the commit of ${deployed}, and run npm ci.`,
  );
}
