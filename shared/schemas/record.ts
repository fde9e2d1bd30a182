import { InvalidItemError } from "../errors.ts";
import { createdAt, isId } from "../ids.ts";
import { isRecord } from "../json.ts";
import type { Inferred, ObjectSchema, Validator } from "./validator.ts";

/**
 * The meaning of each property of a schema, for the OpenAPI document. Descriptions are plain literals outside their
 * schema, so that the functions' bundles contain the schemas without them.
 */
export type Descriptions<Schema extends ObjectSchema, Except = never> = Readonly<
  Record<Exclude<keyof Schema["properties"], Except>, string>
>;

/**
 * The record of an item: the schema's properties, in the schema's order. Keys and other attributes of the item are left
 * out.
 */
export function toRecord<Schema extends ObjectSchema>({ properties }: Schema, item: Item) {
  return pick(Object.keys(properties), item) as Inferred<Schema>;
}

/** Reads and checks the record of an item. @throws InvalidItemError when a property is missing or violates its schema */
export function readRecord<T>(validate: Validator<T>, item: Item): T {
  const fields = fieldsOf(item);
  if (validate(fields)) return pick(validate.properties, fields) as T;
  const [error] = validate.errors ?? [];
  const [, property = String(error?.params.missingProperty)] = error?.instancePath.split("/") ?? [];
  throw new InvalidItemError(item, property);
}

/**
 * The attributes of an item and the fields in its `details`: the inverse of `leadItem` and `conversationItem`. The item of
 * a conversation has no attributes for its two times: `createdAt` follows from its id, and `lastMessageAt` is `activeAt`.
 */
export function fieldsOf({ details, activeAt, ...item }: Item): Item {
  if (!isId("conv", item.id)) return { ...item, ...(details as object) };
  return { createdAt: createdAt(item.id), lastMessageAt: activeAt, ...item, ...(details as object) };
}

/** The attributes of an item, or some of them. */
export type Item = Readonly<Record<string, unknown>>;

/** The named properties that an item has, in that order. A loop takes a third of the time of `Object.fromEntries`. */
function pick(names: readonly string[], item: Item) {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (item[name] !== undefined) picked[name] = inOrder(item[name]);
  return picked;
}

/** Sorts the entries of an object, which DynamoDB returns in any order, so that a record always has the same JSON. */
const inOrder = (value: unknown) => (isRecord(value) ? pick(Object.keys(value).sort(), value) : value);
