import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { releaseKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { dataFormat } from "../../../shared/dynamodb/stored-release.ts";
import { readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { releaseName } from "../../release.ts";

/**
 * Checks that this program writes what the release of the table reads. A table that no deployment has written its
 * release to passes, with a note.
 *
 * @throws UserError for another data format
 */
export async function checkDataFormat(): Promise<void> {
  const deadline = Date.now() + 10_000;
  const item = await withRetry(() => readItem(releaseKey), { deadline, isRetryable: isBusy });
  if (item?.dataFormat === dataFormat) return;
  if (!item) {
    console.error(
      `The table ${tableName} does not say which release it is of: its data format is not compared.`,
    );
    return;
  }
  const { releaseName: deployed, dataFormat: stored } = item;
  throw new UserError(
    `The table ${tableName} is of the release ${deployed} with the data format ${stored}, but this is ${releaseName()} with the data format ${dataFormat}: nothing was written. Check out the commit of ${deployed}, and run npm ci.`,
  );
}
