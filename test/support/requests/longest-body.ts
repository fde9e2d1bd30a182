import { Ajv } from "ajv";
import type { Route } from "../../../shared/routes.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

/** The parts of JSON Schema that the schemas of queries and bodies use. */
interface Schema {
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const ajv = new Ajv(requestOptions);

/** 1,024 bytes as JSON, of which as few as possible cannot be escaped. */
const longestMetadata = Object.fromEntries(
  [200, 200, 200, 200, 188].map((length, n) => [String(n), "x".repeat(length)]),
);

/** 3,072 bytes as JSON, of which as few as possible cannot be escaped. */
export const longestTemplate = {
  ...{ name: "x".repeat(512), language: "x".repeat(15) },
  parameters: [1024, 1024, 436].map((length) => "x".repeat(length)),
};

/** As many channels and addresses as a lead can have, in characters of two UTF-16 units. */
const longestAddresses = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => {
    const unit = String.fromCodePoint(0x1f600 + n);
    return [unit.repeat(64), [unit.repeat(160)]];
  }),
);

/** The longest legal value of a field. */
function longestValue(schema: Schema): unknown {
  if (schema.properties) return longestTemplate;
  if (schema.additionalProperties)
    return schema.additionalProperties.items ? longestAddresses : longestMetadata;
  if (schema.maximum) return schema.maximum;
  if (schema.enum) return schema.enum.toSorted((a, b) => b.length - a.length)[0];
  const { items, maxItems, maxLength = 0 } = schema;
  if (items) return Array(maxItems).fill(longestValue(items));
  const texts = ["\u{1F600}".repeat(maxLength), `${"x".repeat(maxLength - "@b.co".length)}@b.co`];
  const isLegal = ajv.compile(schema);
  const text = texts.find((text) => isLegal(text));
  if (text === undefined) throw new Error(`No known text is legal by ${JSON.stringify(schema)}.`);
  return text;
}

/** The longest JSON text of a value: an escape for each UTF-16 unit of a string. */
const toJson = (value: unknown) =>
  JSON.stringify(value).replace(
    /"(?:[^"\\]|\\.)*"/gs,
    (text) => `"${JSON.parse(text).replace(/./gs, escapeUnit)}"`,
  );

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * The longest legal body of a route, as JSON.
 *
 * @param known the values of fields that must name something
 */
export function longestBody({ body }: Pick<Route, "body">, known: Readonly<Record<string, string>> = {}) {
  const { properties = {} } = body as Schema;
  const fields = Object.entries(properties).map(([name, schema]) => [name, longestValue(schema)]);
  return toJson({ ...Object.fromEntries(fields), ...known });
}
