import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";

/** The document as it is published. */
const document = JSON.parse(readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8"));

/** What is answered, as it is sent. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Headers that are about the connection or the body's bytes, or that OpenAPI says otherwise. */
const transportHeaders = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats });
ajv.addSchema(document, "document");

/**
 * Whether what is fetched is held to the document; off while answers are rightly others: of a table that holds
 * nonsense, or of changed sources.
 */
export const checking = { on: true };

/** Whether the document has the route, which a method in lower case and a path name. */
export const isDocumented = (method: string, path: string) =>
  document.paths[path]?.[method.toLowerCase()] !== undefined;

/** Throws unless the document has the answer of this route: its status, content type, body and every header. */
export function checkResponse(route: { method: string; path: string }, response: Answer): void {
  const faults = faultsOf(route, response);
  if (faults.length === 0) return;
  const { status, body } = response;
  const what = `${route.method} ${route.path} ${status} ${body.slice(0, 1000)}`;
  throw new Error(
    `The OpenAPI document does not have this answer: ${what}\n${faults.slice(0, 5).join("\n")}`,
  );
}

function faultsOf({ method, path }: { method: string; path: string }, answer: Answer): string[] {
  const operation = pointer("paths", path, method.toLowerCase());
  const responses = `${operation}/responses`;
  if (!at(responses)[answer.status]) return [`status ${answer.status} is not documented`];
  const response = target(`${responses}/${answer.status}`);
  return [
    ...bodyFaults(`${response}/content`, answer),
    ...headerFaults(at(response).headers, answer.headers),
  ];
}

function bodyFaults(content: string, { headers, body }: Answer): string[] {
  const [type = ""] = String(headers.get("content-type")).split(";");
  if (!at(content)[type]) return [`content type ${type} is not documented`];
  return schemaFaults(`${content}/${escaped(type)}/schema`, JSON.parse(body), "body");
}

function headerFaults(documented: Record<string, { $ref: string }>, headers: Headers): string[] {
  const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
  const unknown = [...headers.keys()].filter((name) => !names.has(name) && !transportHeaders.has(name));
  const faults = unknown.map((name) => `header ${name} is not documented`);
  for (const [name, { $ref }] of Object.entries(documented)) {
    const { required, schema } = at($ref);
    const value = headers.get(name);
    if (value === null) {
      if (required) faults.push(`header ${name} is missing`);
    } else {
      const read = schema.type === "integer" && /^\d+$/.test(value) ? Number(value) : value;
      faults.push(...schemaFaults(`${$ref}/schema`, read, `header ${name}`));
    }
  }
  return faults;
}

function schemaFaults(place: string, value: unknown, what: string): string[] {
  const validate = ajv.getSchema(`document${place}`);
  if (!validate) throw new Error(`The document has no schema at ${place}.`);
  validate(value);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const escaped = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1");

const pointer = (...parts: readonly string[]) => ["#", ...parts.map(escaped)].join("/");

/** What is at a place of the document. */
function at(place: string) {
  const parts = place.split("/").slice(1);
  return parts.reduce((value, part) => value[part.replaceAll("~1", "/").replaceAll("~0", "~")], document);
}

/** The place, or the one that it refers to. */
const target = (place: string): string => at(place).$ref ?? place;
