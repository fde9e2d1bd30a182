import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { StaleReadError } from "./retry.ts";
import { table } from "./table.ts";

/**
 * Writes all items or none.
 *
 * @throws StaleReadError when a condition does not hold: what was read has changed since
 */
export async function transact(
  items: NonNullable<TransactWriteCommandInput["TransactItems"]>,
): Promise<void> {
  try {
    await table.send(new TransactWriteCommand({ TransactItems: items }));
  } catch (error) {
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
    const refused = reasons.find(({ Code }) => Code === "ConditionalCheckFailed");
    throw refused ? new StaleReadError(refused.Item) : error;
  }
}
