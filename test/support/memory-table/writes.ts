import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type Item, type Key, writtenValues } from "../../../shared/dynamodb/table-client.ts";
import { sum } from "../cases/statistics.ts";
import { holds, nameOf, operand, type Substitutions, unsupported } from "./expressions.ts";
import { checkKeys, type StoredItems, validationError } from "./stored-items.ts";

/** The input of a PutCommand, an UpdateCommand or a DeleteCommand, or of such an item of a transaction. */
interface WriteInput extends Substitutions {
  readonly Item?: Item | undefined;
  readonly Key?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ReturnValues?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

type WriteKind = "Put" | "Update" | "Delete" | "ConditionCheck";

/** Writes an item. @returns the response and the write units @throws ConditionalCheckFailedException */
export function write(items: StoredItems, kind: WriteKind, input: WriteInput) {
  const { key, before, after, allowed } = plan(items, kind, input);
  if (!allowed) {
    throw new ConditionalCheckFailedException({
      message: "The conditional request failed",
      $metadata: { attempts: 1 },
      ...oldItem(input, before),
    });
  }
  return { output: returned(input, after), writes: items.replace(key, after) };
}

/** What an update returns of the item after it. */
function returned({ ReturnValues = "NONE", ...input }: WriteInput, after: Item = {}) {
  if (ReturnValues === "NONE") return {};
  if (ReturnValues === "ALL_NEW") return { Attributes: after };
  if (ReturnValues !== "UPDATED_NEW") throw unsupported("return values", ReturnValues);
  const names = updatedNames(input.UpdateExpression, input);
  return { Attributes: Object.fromEntries(names.map((name) => [name, after[name]])) };
}

/** Writes all items or none. @throws TransactionCanceledException */
export function transactWrite(items: StoredItems, { TransactItems = [] }: TransactWriteCommandInput) {
  const plans = TransactItems.flatMap((item) =>
    Object.entries(item).map(([kind, input]) => plan(items, kind as WriteKind, input as WriteInput)),
  );
  checkKeys(plans.map(({ key }) => key));
  const reasons = plans.map(({ allowed, input, before }) =>
    allowed ? { Code: "None" } : { Code: "ConditionalCheckFailed", ...oldItem(input, before) },
  );
  if (plans.some(({ allowed }) => !allowed)) {
    const codes = reasons.map(({ Code }) => Code).join(", ");
    throw new TransactionCanceledException({
      message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
      $metadata: { attempts: 1 },
      CancellationReasons: reasons,
    });
  }
  return { output: {}, writes: sum(plans.map(({ key, after }) => items.replace(key, after, true))) };
}

function plan(items: StoredItems, kind: WriteKind, input: WriteInput) {
  const { pk, sk } = (kind === "Put" ? input.Item : input.Key) as unknown as Key;
  const key = { pk, sk };
  const { ExpressionAttributeValues: values } = input;
  if (values && Object.keys(values).length === 0)
    throw validationError("ExpressionAttributeValues must not be empty.");
  const before = items.find(key)?.item;
  const allowed = holds(input.ConditionExpression, before ?? {}, input);
  return { input, key, before, after: afterWrite(kind, input, key, before), allowed };
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

/** One action of an update expression, with tokens for its attribute and, unless it removes, its value. */
interface Action {
  readonly clause: string;
  readonly attribute: string;
  readonly onlyIfMissing: boolean;
  readonly value?: string;
}

/** The item after an update; `expression` may have the clauses SET, ADD and REMOVE. */
function updateItem(expression: string | undefined, item: Item, substitutions: Substitutions): Item {
  const updated: Record<string, unknown> = { ...item };
  for (const { clause, attribute, onlyIfMissing, value } of parseUpdate(expression ?? "")) {
    const name = nameOf(attribute, substitutions);
    const operandValue = value && operand(value)(item, substitutions);
    if (clause === "REMOVE") delete updated[name];
    else if (clause === "ADD") updated[name] = Number(item[name] ?? 0) + Number(operandValue);
    else if (!onlyIfMissing || item[name] === undefined) updated[name] = operandValue;
  }
  return updated;
}

/** The attributes that an update changes. */
const updatedNames = (expression: string | undefined, substitutions: Substitutions) =>
  parseUpdate(expression ?? "").map(({ attribute }) => nameOf(attribute, substitutions));

const action = /(?:(SET|ADD|REMOVE) |, ?)(#?\w+)(?: (?:= )?(if_not_exists\(#?\w+, ?)?(:\w+)\)?)? */g;

function parseUpdate(expression: string): readonly Action[] {
  const actions: Action[] = [];
  let clause = "";
  const rest = expression.replaceAll(action, (_, keyword = clause, attribute, missing, value) => {
    clause = keyword;
    actions.push({ clause, attribute, onlyIfMissing: missing !== undefined, value });
    return "";
  });
  if (rest !== "" || actions.some(({ clause, value }) => (clause === "REMOVE") === (value !== undefined)))
    throw unsupported("update", expression);
  return actions;
}
