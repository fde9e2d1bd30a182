import type { FromSchema, JSONSchema } from "json-schema-to-ts";

interface ObjectSchema {
  readonly properties: object;
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
