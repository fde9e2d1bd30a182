import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type Item, type Key, writtenValues } from "../../../shared/dynamodb/table-client.ts";
import { sum } from "../cases/statistics.ts";
import { holds, type Substitutions } from "./expressions.ts";
import { checkKeys, type StoredItems, validationError } from "./stored-items.ts";
import { updateItem } from "./updates.ts";

/** The input of a PutCommand, an UpdateCommand or a DeleteCommand, or of such an item of a transaction. */
export interface WriteInput extends Substitutions {
  readonly Item?: Item | undefined;
  readonly Key?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

type WriteKind = "Put" | "Update" | "Delete" | "ConditionCheck";

/** Writes an item. @returns the item after it, and the write units @throws ConditionalCheckFailedException */
export function write(items: StoredItems, kind: WriteKind, input: WriteInput) {
  const { key, before, after, allowed } = plan(items, kind, input);
  if (!allowed) {
    throw new ConditionalCheckFailedException({
      message: "The conditional request failed",
      $metadata: { attempts: 1 },
      ...oldItem(input, before),
    });
  }
  return { after, writes: items.replace(key, after) };
}

/** Writes all items or none. @throws TransactionCanceledException */
export function transactWrite(items: StoredItems, { TransactItems = [] }: TransactWriteCommandInput): number {
  const plans = TransactItems.flatMap((item) =>
    Object.entries(item).map(([kind, input]) => plan(items, kind as WriteKind, input as WriteInput)),
  );
  checkKeys(plans.map(({ key }) => key));
  if (plans.some(({ allowed }) => !allowed)) {
    const codes = plans.map(({ allowed }) => (allowed ? "None" : "ConditionalCheckFailed"));
    throw new TransactionCanceledException({
      message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(", ")}]`,
      $metadata: { attempts: 1 },
      CancellationReasons: plans.map(({ allowed, input, before }) =>
        allowed
          ? { Code: "None" }
          : {
              Code: "ConditionalCheckFailed",
              Message: "The conditional request failed",
              ...oldItem(input, before),
            },
      ),
    });
  }
  const units = plans.map(({ kind, key, before, after }) =>
    items.replace(key, kind === "ConditionCheck" ? before : after, true),
  );
  return sum(units);
}

function plan(items: StoredItems, kind: WriteKind, input: WriteInput) {
  const { pk, sk } = (kind === "Put" ? input.Item : input.Key) as unknown as Key;
  const key = { pk, sk };
  const { ExpressionAttributeValues: values } = input;
  if (values && Object.keys(values).length === 0)
    throw validationError("ExpressionAttributeValues must not be empty.");
  const before = items.find(key)?.item;
  const allowed = holds(input.ConditionExpression, before ?? {}, input);
  return { kind, input, key, before, after: afterWrite(kind, input, key, before), allowed };
}

function afterWrite(kind: WriteKind, input: WriteInput, key: Key, before: Item | undefined) {
  if (kind === "Put") return input.Item;
  if (kind === "Update") return updateItem(input.UpdateExpression, before ?? key, input);
  if (kind === "Delete") return undefined;
  return before;
}

/** The item whose condition failed, if the input asks for it. The SDK does not unmarshall it. */
const oldItem = (input: WriteInput, before: Item | undefined) =>
  input.ReturnValuesOnConditionCheckFailure === "ALL_OLD" && before
    ? { Item: marshall(before, { ...writtenValues }) }
    : {};
