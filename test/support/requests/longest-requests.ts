import { Ajv } from "ajv";
import type { Route } from "../../../shared/routes.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";

/** The most bytes of all headers of a response, and of its body. */
export const mostHeaders = 4096;
export const mostBody = 5_000_000;

/** The bytes of headers, with their separators. */
export const headerBytes = (headers: object) =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + Buffer.byteLength(`${name}: ${value}\r\n`), 0);

/** Characters of 12, 9 and 3 bytes in a query, and one that links encode although a query may contain it unencoded. */
const units = ["\u{1F600}", "字", '"', "'"];

/** The characters of a text without a limit that fit into a request that API Gateway accepts. */
const most = 9000;

/** Kinds of texts with about as many characters as wanted. */
const shapes: readonly ((length: number, unit: string) => string)[] = [
  (length, unit) => unit.repeat(length),
  (length, unit) => `${unit.repeat(Math.max(0, length - "@b.co".length))}@b.co`,
  (length) => `1${"0".repeat(length - 1)}`,
  (length) => `msg_${"7".repeat(Math.max(0, length - 4))}`,
  (length) => `2026-01-31T09:30:00.${"9".repeat(length)}+23:59`,
];

/** The parts of JSON Schema that the schemas of queries and bodies use. */
interface Schema {
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const formats = {
  ...requestOptions.formats,
  "date-time": (text: string) => parseTimestamp(text) !== undefined,
};
const ajv = new Ajv({ ...requestOptions, formats });

/** Parameters that cannot be sent with the longest values of all others, with the parameters that they need. */
const apart: Readonly<Record<string, string>> = {
  sort: "",
  include: "&id=conv_1",
  messageLimit: "&id=conv_1&include=messages",
  messagesBefore: "&id=conv_1&include=messages",
  awaitingReply: "",
  awaitingReplyAfter: "&awaitingReply=true",
  awaitingReplyBefore: "&awaitingReply=true",
};

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

/** The longest legal values of a schema, with different characters, the longest one first. */
function longestValues(schema: Schema): (string | number | object)[] {
  if (schema.properties) return [longestTemplate];
  if (schema.additionalProperties)
    return [schema.additionalProperties.items ? longestAddresses : longestMetadata];
  if (schema.maximum) return [schema.maximum];
  const { items, maxItems, maxLength = most } = schema;
  if (items) return longestValues(items).map((item) => Array(maxItems).fill(item));
  const isLegal = ajv.compile(schema);
  const lengths = [maxLength, ...Array.from({ length: 64 }, (_, n) => 64 - n)];
  const longest = (shape: (typeof shapes)[number]) =>
    units.flatMap((unit) => lengths.map((length) => shape(length, unit)).find((text) => isLegal(text)) ?? []);
  const values = schema.enum ?? shapes.map(longest).find((texts) => texts.length > 0);
  if (!values) throw new Error(`No known text is legal by ${JSON.stringify(schema)}.`);
  return [...new Set(values)].sort((a, b) => toJson(b).length - toJson(a).length);
}

/** The longest JSON text of a value: an escape for each UTF-16 unit of a string. */
const toJson = (value: unknown) =>
  JSON.stringify(value).replace(
    /"(?:[^"\\]|\\.)*"/gs,
    (text) => `"${JSON.parse(text).replace(/./gs, escapeUnit)}"`,
  );

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A request in which one parameter or field, or all of them, are as long as possible. */
interface LongestRequest {
  readonly longest: string;
  readonly query: string;
  readonly body?: string;
}

/**
 * The longest legal requests to a route, by its schemas.
 *
 * @param known the values of fields that must name something, for requests in which other fields are the longest
 */
export function longestRequests(
  { query, body }: Pick<Route, "query" | "body">,
  known: Readonly<Record<string, string>> = {},
): LongestRequest[] {
  const parameters = longestMembers(query).map(([name, values]) => ({
    longest: name,
    queries: values.map(
      (value) =>
        `${name}=${[value].flat().map((text) => encodeURIComponent(String(text)))}${apart[name] ?? ""}`,
    ),
  }));
  const inQuery = parameters.flatMap(({ longest, queries }) => queries.map((query) => ({ longest, query })));
  const together = parameters.filter(({ longest }) => !(longest in apart));
  const all = { longest: "all", query: together.map(({ queries }) => queries[0]).join("&") };
  if (!body) return [...inQuery, all];
  const members = longestMembers(body);
  const { required = [] } = body as Schema;
  const named = Object.fromEntries(Object.entries(known).filter(([name]) => required.includes(name)));
  const base = { ...Object.fromEntries(required.map((name) => [name, "x"])), ...named };
  const inBody = members.flatMap(([name, values]) =>
    values.map((value) => ({ longest: name, query: "", body: toJson({ ...base, [name]: value }) })),
  );
  const longestBody = Object.fromEntries(members.map(([name, [value]]) => [name, value]));
  return [...inBody, { longest: "all", query: "", body: toJson({ ...longestBody, ...named }) }];
}

const longestMembers = (schema: unknown) =>
  Object.entries((schema as Schema).properties ?? {}).map(
    ([name, property]) => [name, longestValues(property)] as const,
  );
