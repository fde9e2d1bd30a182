import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { MalformedItemError } from "../errors.ts";

interface ObjectSchema {
  readonly properties: object;
  readonly required?: readonly string[];
}

/** Deferred until the schema is known: the type of every schema at once is too deep for the compiler. */
type Inferred<Schema> = Schema extends JSONSchema ? FromSchema<Schema> : never;

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
export function toRecord<Schema extends ObjectSchema>(
  { properties }: Schema,
  item: Readonly<Record<string, unknown>>,
): Inferred<Schema> {
  const names = Object.keys(properties).filter((name) => item[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, item[name]])) as Inferred<Schema>;
}

/** The record of an item that is what the code relies on. @throws MalformedItemError when a required property is missing, or one does not fit */
export function readRecord<Schema extends ObjectSchema>(
  schema: Schema,
  item: Readonly<Record<string, unknown>>,
): Inferred<Schema> {
  const { properties, required = [] } = schema;
  for (const [name, property] of Object.entries(properties)) {
    const value = item[name];
    if (value === undefined ? required.includes(name) : !fits(value, property))
      throw new MalformedItemError(item, name);
  }
  return toRecord(schema, item);
}

/** The keywords of a property's schema that are checked. */
interface Property {
  readonly type: "string" | "integer" | "boolean" | "array" | "object";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly allOf?: readonly { readonly pattern: string }[];
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Property;
}

/** More characters than a part of a key has, for a text whose schema has no limit. */
const longestText = 2048;

/** A time as the service writes it. */
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether a stored value is what the code relies on; a validator would check more, and take longer to load. */
function fits(value: unknown, property: Property): boolean {
  const {
    minLength = 0,
    maxLength = longestText,
    pattern = "",
    allOf = [],
    format,
    maxItems = 0,
    items,
  } = property;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = property;
  if (typeof value === "string")
    return (
      property.type === "string" &&
      value.length >= minLength &&
      // A character has up to two UTF-16 units.
      value.length <= 2 * maxLength &&
      (property.enum?.includes(value) ?? true) &&
      [pattern, ...allOf.map((each) => each.pattern)].every((each) => new RegExp(each, "u").test(value)) &&
      (format !== "date-time" || timestamp.test(value))
    );
  if (typeof value === "number")
    return property.type === "integer" && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
  if (Array.isArray(value))
    return (
      property.type === "array" && value.length <= maxItems && value.every((one) => items && fits(one, items))
    );
  return typeof value === property.type;
}
