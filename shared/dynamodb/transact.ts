import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { AlreadyRecordedError, type putRecord } from "../domain/idempotency.ts";
import { busy, StaleReadError } from "./retry.ts";
import { table } from "./table-client.ts";

type TransactItems = NonNullable<TransactWriteCommandInput["TransactItems"]>;

/**
 * Writes all items or none.
 *
 * @param record of the request that the transaction carries out
 * @throws AlreadyRecordedError when the request was carried out before
 * @throws StaleReadError when a condition does not hold: what was read has changed since
 * @throws ApiError `busy` when it is not known what became of it, and it has no record
 */
export async function transact(items: TransactItems, record?: ReturnType<typeof putRecord>): Promise<void> {
  try {
    await table.send(new TransactWriteCommand({ TransactItems: record ? [record, ...items] : items }));
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    // The SDK's first attempt, of which nothing was heard, may yet take effect: made anew without a record, all would
    // happen twice.
    if (!record && (error.$metadata.attempts ?? 1) > 1) throw busy(error);
    const reasons = error.CancellationReasons ?? [];
    const refused = reasons.findIndex(({ Code }) => Code === "ConditionalCheckFailed");
    if (refused === -1) throw error;
    // The document client leaves these items as they came.
    const item = unmarshall(reasons[refused]?.Item ?? {});
    throw record && refused === 0 ? new AlreadyRecordedError(item) : new StaleReadError(item);
  }
}
