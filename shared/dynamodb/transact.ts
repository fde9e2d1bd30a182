import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { StaleReadError, UnknownOutcomeError } from "./dynamodb-errors.ts";
import { readNumbers } from "./invalid-items.ts";
import { type Key, table, tableName } from "./table-client.ts";

export type TransactItems = NonNullable<TransactWriteCommandInput["TransactItems"]>;

type ConditionCheck = NonNullable<TransactItems[number]["ConditionCheck"]>;

/** The part of a transaction that writes nothing, and fails if the condition of an item does not hold. */
export const check = (Key: Key, condition: Omit<ConditionCheck, "TableName" | "Key">) => ({
  ConditionCheck: { TableName: tableName, Key, ...condition },
});

/**
 * Writes all items or none.
 *
 * @param repeatable whether a second run of the transaction would change nothing
 * @throws StaleReadError when the condition of an item does not hold
 * @throws UnknownOutcomeError when the SDK made a second attempt of a transaction that is not repeatable, and it failed
 */
export async function transact(items: TransactItems, repeatable = false): Promise<void> {
  try {
    await table.send(new TransactWriteCommand({ TransactItems: items }));
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    // The SDK's first attempt, which got no response, may yet take effect: a retry could write everything twice.
    if (!repeatable && (error.$metadata.attempts ?? 1) > 1) {
      throw new UnknownOutcomeError("The transaction may have taken effect.", { cause: error });
    }
    const reasons = error.CancellationReasons ?? [];
    // The other transaction may be about to change what the condition checks.
    if (reasons.some(({ Code }) => Code === "TransactionConflict")) throw error;
    const failed = reasons.find(({ Code }) => Code === "ConditionalCheckFailed");
    if (!failed) throw error;
    // The document client does not unmarshall these items.
    throw new StaleReadError(unmarshall(failed.Item ?? {}, readNumbers));
  }
}
