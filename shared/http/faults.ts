import type { ErrorObject } from "ajv";
import { ApiError, type Fault } from "../errors.ts";
import { textRules } from "../schemas/text-rules.ts";
import type { RouteEvent } from "./route-event.ts";

/** How many faults a response lists at most. The search for further ones ends there, so that they cost nothing. */
export const maxFaults = 100;

/** How many faults the detail of a problem names at most. */
const namedFaults = 5;

/** How much of a name in the request is repeated, in UTF-16 units. */
const maxNameLength = 64;

/** The error for a request with faults; its detail names the first ones. */
export function invalidInput(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, namedFaults).map(({ field, message }) => `${field || "body"} ${message}`);
  const unnamed = Math.min(faults.length, maxFaults) - namedFaults;
  const atLeast = faults.length >= maxFaults ? "at least " : "";
  const more = unnamed > 0 ? `; and ${atLeast}${unnamed} more faults` : "";
  return new ApiError("invalid_input", `The request is invalid: ${named.join("; ")}${more}.`, { faults });
}

/** Records faults that no schema can find; the response lists them with those of the validator. */
export function addFaults(event: RouteEvent, ...faults: readonly Fault[]): void {
  event.faults = [...(event.faults ?? []), ...faults];
}

/** The faults of a request by the errors of its validator, in their order; a value of the wrong type has only that fault. */
export function toFaults(errors: readonly ErrorObject[], request: { query: object }): Fault[] {
  const wrongTypes = new Set(errors.filter(isTypeError).map((error) => error.instancePath));
  return errors
    .filter((error) => isTypeError(error) || !wrongTypes.has(error.instancePath))
    .map((error) => toFault(error, request));
}

const isTypeError = (error: ErrorObject) => error.keyword === "type";

function toFault(error: ErrorObject, { query }: { query: object }): Fault {
  const [, place, ...path] = error.instancePath.split("/");
  const property: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  if (typeof property === "string") path.push(property);
  const field = path.reduce<string | undefined>(memberName, undefined) ?? "";
  if (place === "query") {
    const value: unknown = Reflect.get(query, path[0] ?? "");
    return {
      in: "query",
      field,
      ...(isTypeError(error) ? queryTypeFault(value) : describe(error, "parameter")),
    };
  }
  return { in: "body", field, ...describe(error, "field") };
}

/** The query parser gives a parameter that it cannot read as one string another type. */
const queryTypeFault = (value: unknown): Pick<Fault, "code" | "message"> =>
  Array.isArray(value)
    ? { code: "repeated", message: "must be given once" }
    : { code: "invalid_encoding", message: "must be percent-encoded UTF-8" };

const typeNames: Record<string, string> = {
  string: "a string",
  array: "an array",
  object: "a JSON object",
};

function describe(
  { keyword, params }: ErrorObject,
  kind: "parameter" | "field",
): Pick<Fault, "code" | "message"> {
  switch (keyword) {
    case "required":
      return { code: "required", message: "is required" };
    case "additionalProperties":
      return { code: "unknown", message: `is not a ${kind} of this route` };
    case "type":
      return { code: "wrong_type", message: `must be ${typeNames[params.type] ?? params.type}` };
    case "enum":
      return { code: "not_allowed", message: `must be one of ${params.allowedValues.join(", ")}` };
    case "minLength":
      return { code: "too_short", message: `must have at least ${params.limit} character` };
    case "maxLength":
      return { code: "too_long", message: `must have at most ${params.limit} characters` };
    case "maxItems":
      return { code: "too_many", message: `must have at most ${params.limit} items` };
    case "format":
      return { code: "invalid_format", message: `must be a valid ${params.format} address` };
    case "pattern":
      return textRules[params.pattern] ?? unknownKeyword(keyword);
    default:
      return unknownKeyword(keyword);
  }
}

function unknownKeyword(keyword: string): never {
  throw new Error(`A schema uses "${keyword}" in a way that has no message for its fault.`);
}

/**
 * The name of a member of what is named `parent`: `tags`, then `tags[3]`. An empty name becomes `""`, because the empty
 * name stands for the whole body; a long name is cut.
 *
 * @param parent undefined for the whole body or query
 */
export function memberName(parent: string | undefined, member: string | number): string {
  const isName = parent === undefined && typeof member === "string";
  const name = isName ? member || '""' : `${parent ?? ""}[${member}]`;
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}
