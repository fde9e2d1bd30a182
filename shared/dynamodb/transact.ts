import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { StaleReadError } from "./dynamodb-errors.ts";
import { readNumbers } from "./invalid-items.ts";
import { type Key, table, tableName } from "./table-client.ts";

export type TransactItems = NonNullable<TransactWriteCommandInput["TransactItems"]>;

type ConditionCheck = NonNullable<TransactItems[number]["ConditionCheck"]>;

/** The part of a transaction that writes nothing, and fails if the condition of an item does not hold. */
export const check = (Key: Key, condition: Omit<ConditionCheck, "TableName" | "Key">) => ({
  ConditionCheck: { TableName: tableName, Key, ...condition },
});

/**
 * Writes all items or none. The SDK sends the same token with each attempt of a call, so an attempt succeeds without writing
 * if an earlier one has taken effect, and is canceled only if none has yet.
 *
 * @param isRepeatable whether a second transaction, made anew, would write nothing again
 * @throws StaleReadError when the condition of an item does not hold
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export async function transact(items: TransactItems, { isRepeatable = true } = {}): Promise<void> {
  try {
    await table.send(new TransactWriteCommand({ TransactItems: items }));
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    // A first attempt without a response may be late: it could take effect after the second one was canceled and before a
    // retry, which would then write the same again. So the call ends as if the second attempt had no response either.
    if (!isRepeatable && (error.$metadata.attempts ?? 1) > 1) throw toTimeout(error);
    const reasons = error.CancellationReasons ?? [];
    // The other transaction may be about to change what the condition checks.
    if (reasons.some(({ Code }) => Code === "TransactionConflict")) throw error;
    const failed = reasons.find(({ Code }) => Code === "ConditionalCheckFailed");
    if (!failed) throw error;
    // The document client does not unmarshall these items.
    throw new StaleReadError(unmarshall(failed.Item ?? {}, readNumbers));
  }
}

/** The error of a call without a response. Its log has why the second attempt was canceled. */
const toTimeout = ({ $metadata, CancellationReasons }: TransactionCanceledException) =>
  Object.assign(new Error("The transaction may yet take effect."), {
    name: "TimeoutError",
    $metadata,
    CancellationReasons,
  });
