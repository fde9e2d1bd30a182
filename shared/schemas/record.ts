import { InvalidItemError } from "../errors.ts";
import { createdAt, isId } from "../ids.ts";
import { isRecord } from "../json.ts";
import type { Inferred, ObjectSchema, Validator } from "./validator.ts";

/**
 * What each property of a schema means, for the OpenAPI document. Descriptions stand beside their schema, not in it, and
 * are plain literals: so the functions' bundles have the schemas without them.
 */
export type Descriptions<Schema extends ObjectSchema, Except = never> = Readonly<
  Record<Exclude<keyof Schema["properties"], Except>, string>
>;

/**
 * The record of an item: the schema's properties, in the schema's order. Keys and other attributes of the item are left
 * out.
 */
export function toRecord<Schema extends ObjectSchema>({ properties }: Schema, item: Attributes) {
  return pick(Object.keys(properties), item) as Inferred<Schema>;
}

/** The record of an item that is what the code relies on. @throws InvalidItemError when a property is missing or not as its schema says */
export function readRecord<T>(validate: Validator<T>, item: Attributes): T {
  const fields = fieldsOf(item);
  if (!validate(fields)) throw new InvalidItemError(item, invalidProperty(validate.errors));
  return pick(validate.properties, fields) as T;
}

/**
 * The attributes of an item, with the fields that it has in `details`: the inverse of `leadItem` and `conversationItem`. The
 * item of a conversation has neither of its times: its id has the first one, and `activeAt` is the second.
 */
export function fieldsOf({ details, activeAt, ...item }: Attributes): Attributes {
  if (!isId("conv", item.id)) return { ...item, ...(details as object) };
  return { createdAt: createdAt(item.id), lastMessageAt: activeAt, ...item, ...(details as object) };
}

export type Attributes = Readonly<Record<string, unknown>>;

function invalidProperty(errors: Validator["errors"]): string {
  const [error] = errors ?? [];
  const [, property] = error?.instancePath.split("/") ?? [];
  return property ?? String(error?.params.missingProperty);
}

/** The properties that an item has, in the order of the names: a loop takes a third of the time of `Object.fromEntries`. */
function pick(names: readonly string[], item: Attributes) {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (item[name] !== undefined) picked[name] = inOrder(item[name]);
  return picked;
}

/** The parts of an object, which DynamoDB returns in any order, by their names: the same record is always the same JSON. */
const inOrder = (value: unknown) => (isRecord(value) ? pick(Object.keys(value).sort(), value) : value);
