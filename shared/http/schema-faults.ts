import { type Fault, type FaultCode, memberName } from "../errors.ts";
import { notBlank } from "../normalize-label.ts";
import type { Route } from "../routes.ts";
import { textRules, visible } from "../schemas/text-rules.ts";
import type { ObjectSchema, ValidationError } from "../schemas/validator.ts";
import { knownName } from "./known-name.ts";
import type { RouteEvent } from "./route-event.ts";

interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: object;
  readonly propertyNames?: { readonly minLength: number; readonly maxLength: number };
}

type Schemas = Pick<Route, "query" | "body">;
type Input = Pick<RouteEvent, "query" | "body">;

interface ErrorPlace {
  readonly in: "query" | "body";
  readonly schema: ObjectSchema;
  readonly value: unknown;
  /** The schema of the parameter or field; empty for the whole query or body. */
  readonly property: PropertySchema;
  /** How a request states that there is no value; empty if a value is required. */
  readonly orNone: string;
}

type CodeAndMessage = readonly [code: FaultCode, message: string];

/** The faults of a request, in the order of its validator's errors. A value of the wrong type has only that fault. */
export function toFaults(errors: readonly ValidationError[], schemas: Schemas, request: Input): Fault[] {
  const wrongTypes = new Set(errors.filter(isTypeError).map((error) => error.instancePath));
  return (
    errors
      .filter((error) => isTypeError(error) || !wrongTypes.has(error.instancePath))
      // The `propertyNames` error of the object stands for the errors of its names.
      .filter(({ propertyName }) => propertyName === undefined)
      .map((error) => toFault(error, schemas, request))
  );
}

/** @see https://www.rfc-editor.org/rfc/rfc6901#section-3 */
const unescapePointer = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");

const isTypeError = (error: ValidationError) => error.keyword === "type";

function toFault(error: ValidationError, schemas: Schemas, request: Input): Fault {
  const [, part, ...places] = error.instancePath.split("/").map(unescapePointer);
  const where = part === "query" ? "query" : "body";
  const [parameter = ""] = places;
  // If a parameter has one value, the value is named without an index.
  const isOnly = where === "query" && places.length > 1 && Reflect.get(request.query, parameter).length === 1;
  const path = isOnly ? [parameter] : places;
  const schema = schemas[where] as unknown as ObjectSchema;
  const value = path.reduce<unknown>((parent, name) => Reflect.get(parent as object, name), request[where]);
  const isOptional = path.length === 1 && !schema.required?.some((name) => name === path[0]);
  const property: PropertySchema = Reflect.get(schema.properties, path[0] ?? "") ?? {};
  const isNullable = [property.type].flat().includes("null");
  const isUpdate = "ifExists" in request.query;
  const omission = isUpdate ? "leave it out to keep it" : "leave it out if it has no value";
  const orNone = isOptional ? `: ${isNullable ? "send null if it has no value" : omission}` : "";
  const member: unknown =
    error.params.missingProperty ?? error.params.additionalProperty ?? error.params.propertyName;
  const names = typeof member === "string" ? [...path, member] : path;
  const field = names.reduce<string | undefined>(memberName, undefined) ?? "";
  const [code, message] = describe(error, { in: where, schema, value, property, orNone });
  return { in: where, field, code, message };
}

function describe({ keyword, params }: ValidationError, place: ErrorPlace): CodeAndMessage {
  const { value, property, orNone } = place;
  switch (keyword) {
    case "required":
      return ["required", "is required"];
    case "additionalProperties":
      return ["unknown", unknownMessage(params.additionalProperty, place)];
    case "type":
      return place.in === "query" ? queryTypeFault(value) : wrongType(params.type, place);
    case "enum":
      return ["not_allowed", `must be one of ${params.allowedValues.join(", ")}`];
    case "minLength":
      return ["too_short", `must have at least ${params.limit} character${orNone}`];
    case "maxLength":
      return ["too_long", `must have at most ${params.limit} characters`];
    case "minimum":
    case "maximum":
      return ["out_of_range", rangeMessage(property)];
    case "propertyNames":
      return nameFault(property);
    case "maxProperties":
      return ["too_many", `must have at most ${params.limit} names`];
    case "maxItems":
      return ["too_many", `must have at most ${params.limit} items`];
    case "format":
      return params.format === "email"
        ? ["invalid_format", emailMessage(String(value), place, orNone)]
        : textFault(String(value), place);
    case "pattern":
      if (params.pattern === visible && isSpacedQuery(value, place)) return spacedQuery;
      return textRules[params.pattern] ?? unknownKeyword(keyword);
    default:
      return unknownKeyword(keyword);
  }
}

/** Names the parameter or field that the caller most likely meant, or lists all that exist. */
function unknownMessage(name: string, { in: where, schema, property }: ErrorPlace): string {
  const place = property.properties ? "object" : "route";
  const rejection = `is not a ${where === "query" ? "parameter" : "field"} of this ${place}`;
  const known = Object.keys(property.properties ?? schema.properties);
  if (where === "body" && known.includes("externalId") && /^(?:id|status|score)$/.test(name))
    return "can be set only with ifExists=update";
  const meant = knownName(name, known);
  return meant === undefined
    ? `${rejection}, which takes ${known.join(", ") || "none"}`
    : `${rejection}, but ${meant} is`;
}

/** The query parser has replaced a parameter that is not one valid string by a value of another type. */
const queryTypeFault = (value: unknown): CodeAndMessage =>
  Array.isArray(value)
    ? ["repeated", "must be given once"]
    : ["invalid_encoding", "must be percent-encoded UTF-8"];

const rangeMessage = ({ minimum, maximum }: PropertySchema) =>
  `must be a whole number from ${minimum} to ${maximum}`;

const nameFault = ({ propertyNames }: PropertySchema): CodeAndMessage => [
  "invalid_characters",
  `must have a name of ${propertyNames?.minLength} to ${propertyNames?.maxLength} characters, without control characters and unpaired surrogates`,
];

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "a JSON object",
  null: "null",
};

function wrongType(
  type: string | readonly string[],
  { value, property, orNone }: ErrorPlace,
): CodeAndMessage {
  const met = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const wanted = [type].flat().map((name) => typeNames[name] ?? name);
  if (met === "number" && type === "integer") return ["wrong_type", rangeMessage(property)];
  const message = `must be ${wanted.join(" or ")}, not ${typeNames[met]}${met === "null" ? orNone : ""}`;
  return ["wrong_type", message];
}

/** The fault of a text without visible characters, or of a label whose stored form is too long. */
function textFault(text: string, { schema, property }: ErrorPlace): CodeAndMessage {
  if (notBlank.test(text)) return ["too_long", "must have at most 64 characters in its stored form"];
  // The name in a channel's profile can consist of blanks or invisible characters.
  const isName = Reflect.get(schema.properties, "name") === property;
  const instead = isName ? ": for a person without a visible name, send their handle or address" : "";
  return ["blank", `must not be blank${instead}`];
}

const isSpacedQuery = (value: unknown, { in: where }: ErrorPlace) =>
  where === "query" && String(value).includes(" ");

const spacedQuery: CodeAndMessage = [
  "invalid_format",
  "must not contain spaces: in a query, + means a space, so send + as %2B",
];

/** Common mistakes in an email address. The first one that matches is reported. */
const emailSlips: readonly (readonly [RegExp, string])[] = [
  [/\s/, "must not contain spaces or line breaks"],
  [/[^!-~]/, "must have visible ASCII characters only, and an international domain in its xn-- form"],
  [/^[^@]*$/, "must have an @"],
  [/@.*@/, "must be one address with one @"],
];

function emailMessage(address: string, place: ErrorPlace, orNone: string): string {
  if (address === "") return `must not be empty${orNone}`;
  if (isSpacedQuery(address, place)) return spacedQuery[1];
  const [, message] = emailSlips.find(([slip]) => slip.test(address)) ?? [];
  return message ?? "must be an email address such as ada@example.com";
}

function unknownKeyword(keyword: string): never {
  throw new Error(`A schema uses "${keyword}" in a way that has no message for its fault.`);
}
