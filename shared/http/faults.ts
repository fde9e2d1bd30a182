import type { ErrorObject } from "ajv";
import { ApiError, type Fault, type FaultCode } from "../errors.ts";
import { textRules } from "../schemas.ts";
import { memberName } from "./field-name.ts";
import type { RouteEvent } from "./route-handler.ts";

/** How many faults an error's sentence names. */
const namedFaults = 5;

/** The error for a request with faults, of which the sentence names the first ones. */
export function invalidInput(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, namedFaults).map(({ field, message }) => `${field || "body"} ${message}`);
  const more = faults.length > namedFaults ? `; and ${faults.length - namedFaults} more faults` : "";
  return new ApiError("invalid_input", `The request is invalid: ${named.join("; ")}${more}.`, { faults });
}

/** Keeps faults that no schema can find, to be answered with those that the validator finds. */
export function addFaults(event: RouteEvent, ...faults: readonly Fault[]): void {
  event.faults = [...(event.faults ?? []), ...faults];
}

/** The faults that the validator found in a request, in its order; a value of the wrong type has that fault alone. */
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

/** A parameter that is no string is one that the query parser could not read as one. */
const queryTypeFault = (value: unknown): Pick<Fault, "code" | "message"> =>
  Array.isArray(value)
    ? { code: "repeated", message: "must be given once" }
    : { code: "invalid_encoding", message: "must be percent-encoded UTF-8" };

const textRuleByPattern = new Map<string, { code: FaultCode; message: string }>(
  Object.values(textRules).map(({ pattern, code, message }) => [pattern, { code, message }]),
);

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
      return textRuleByPattern.get(params.pattern) ?? unknownKeyword(keyword);
    default:
      return unknownKeyword(keyword);
  }
}

function unknownKeyword(keyword: string): never {
  throw new Error(`A schema uses "${keyword}" in a way that has no words for its fault.`);
}
