import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { maxFaults } from "../../../shared/http/faults.ts";
import { toFaults } from "../../../shared/http/schema-faults.ts";
import { idTimestamp, isId } from "../../../shared/ids.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { noQuery } from "../../../shared/schemas/page-schemas.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";
import { type RowFault, rowFault } from "./row.ts";

/** The schema of a JSON object; its numbers are whole. */
export interface FieldsSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

/**
 * The bundles of the functions check the schemas; to do it here takes longer than to import a few rows. Its errors have the
 * bounds of numbers.
 */
const ajv = new Ajv2020({ ...requestOptions, meta: false, validateSchema: false, verbose: true });

/**
 * Creates a check of JSON values against a schema of the API, or one that is written like it.
 *
 * @param what what the value is, for a field that it does not have: "a lead"
 * @returns the check, which returns the faults of a value in the words of the API
 */
export function fieldCheck(what: string, schema: FieldsSchema): (value: unknown) => RowFault[] {
  const validate = ajv.compile({ type: "object", properties: { body: schema } });
  return (body) => {
    if (validate({ body })) return [];
    const errors = validate.errors ?? [];
    const others = errors.filter((error) => !isNumberError(error));
    const faults = toFaults(others, { query: noQuery, body: schema as never }, { query: {}, body } as never);
    return [
      ...faults.map(({ field, code, message }) =>
        rowFault(field, code, code === "unknown" ? `is not a field of ${what}` : message),
      ),
      ...errors.filter(isNumberError).map(({ instancePath, parentSchema = {} }) => {
        const { minimum, maximum } = parentSchema;
        const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
        const [, , ...path] = instancePath.split("/");
        return rowFault(path.join("."), "out_of_range", `must be a whole number ${range}`);
      }),
    ].slice(0, maxFaults);
  };
}

/** Requests have no numbers, so the API has no words for these. */
const isNumberError = ({ keyword, params }: ErrorObject) =>
  keyword === "minimum" || keyword === "maximum" || (keyword === "type" && params.type === "integer");

/** The fault of an id, if it has one: it must have the form that the API gives it, and no future time. */
export function idFaults(field: string, id: unknown, prefix: string, now: number): RowFault[] {
  if (!isId(prefix, id)) return [rowFault(field, "invalid_format", `must be ${prefix}_ followed by a ULID`)];
  if (idTimestamp(id) <= now + limits.skew) return [];
  return [rowFault(field, "out_of_range", "must not contain a future time")];
}

/** The fault of a creation time that is not the one in the id. */
export const notTimeOfId = rowFault("createdAt", "not_allowed", "must be the time that the id contains");

/** The fault of a time, if it has one: it must be written as the API writes it, and not be in the future. */
export function timeFaults(field: string, time: unknown, now: number): RowFault[] {
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at) || new Date(at).toISOString() !== time)
    return [rowFault(field, "invalid_format", "must be a time such as 2026-11-21T01:59:00.000Z")];
  return at >= 0 && at <= now + limits.skew
    ? []
    : [rowFault(field, "out_of_range", "must be between 1970 and now")];
}
