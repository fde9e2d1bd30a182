import { releaseKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { dataFormat } from "../../../shared/dynamodb/stored-release.ts";
import { readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { isBusy } from "../../../shared/dynamodb/throttling.ts";
import { UserError } from "../../errors.ts";
import { releaseName } from "../../release.ts";

/**
 * Checks that this program writes what the release of the table reads.
 *
 * @throws UserError for another data format
 */
export async function checkDataFormat(): Promise<void> {
  const deadline = Date.now() + 10_000;
  const item = await withRetry(() => readItem(releaseKey), { deadline, isRetryable: isBusy });
  // Without a release, the table has the first format.
  const { releaseName: deployed, dataFormat: stored } = { releaseName: "1.0.0", dataFormat: 1, ...item };
  if (stored === dataFormat) return;
  throw new UserError(
    `The table ${tableName} is of the release ${deployed} with the data format ${stored}, but this is ${releaseName()} with the data format ${dataFormat}: nothing was written. Check out the commit of ${deployed}, and run npm ci.`,
  );
}
