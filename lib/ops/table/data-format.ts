import { releaseKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { dataFormat } from "../../../shared/dynamodb/stored-release.ts";
import { type Item, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { isBusy } from "../../../shared/dynamodb/throttling.ts";
import { releaseName } from "../../release-name.ts";
import { UserError } from "../../user-error.ts";

/**
 * Checks that this program writes what the release of the table reads.
 *
 * @throws UserError for another data format
 */
export async function checkDataFormat(): Promise<void> {
  const deadline = Date.now() + 10_000;
  const release = await withRetry(() => readItem(releaseKey), { deadline, isRetryable: isBusy });
  expectDataFormat(
    tableName,
    release,
    (deployed) =>
      `this is ${releaseName()} with the data format ${dataFormat}: nothing was written. Check out the commit of ${deployed}, and run npm ci.`,
  );
}

/**
 * @param release the item of the table's release; without one, the table has the first format
 * @param otherwise the end of the sentence about another format
 * @throws UserError for another data format than this program's
 */
export function expectDataFormat(
  table: string,
  release: Item | undefined,
  otherwise: (deployed: string) => string,
): void {
  const { releaseName: deployed, dataFormat: stored } = { releaseName: "1.0.0", dataFormat: 1, ...release };
  if (stored === dataFormat) return;
  throw new UserError(
    `The table ${table} is of the release ${deployed} with the data format ${stored}, but ${otherwise(deployed)}`,
  );
}
