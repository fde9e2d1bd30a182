import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { maxFaults } from "../../../shared/http/faults.ts";
import { toFaults } from "../../../shared/http/schema-faults.ts";
import { idTimestamp, ulidPattern } from "../../../shared/ids.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { lead, newLead } from "../../../shared/schemas/lead-schemas.ts";
import { noQuery } from "../../../shared/schemas/page-schemas.ts";
import { validation } from "../../bundling/validation.ts";
import { isRecord } from "../../is-record.ts";
import { type RowFault, rowFault } from "../archive/row.ts";

/** The fields that the API accepts for a new lead, and the status. */
const fields = {
  ...newLead,
  properties: { ...newLead.properties, status: lead.properties.status },
} as const satisfies JSONSchema;

/** A lead to import. */
export type LeadInput = FromSchema<typeof fields> & {
  readonly id?: string;
  readonly score?: number;
  /** The creation time, in milliseconds since the epoch. */
  readonly at?: number;
};

/** The bundles of the functions check the schemas; to do it here takes longer than to import a few rows. */
const options = { ...validation, meta: false, validateSchema: false } as const;

const validate = new Ajv2020(options).compile({ type: "object", properties: { body: fields } });

/**
 * Checks a row as the API checks a new lead, and the fields that only an import can set: id, score and creation time.
 *
 * @param now the latest creation time that is allowed, in milliseconds since the epoch
 */
export function checkLead(
  value: unknown,
  now: number,
): { readonly input: LeadInput } | { readonly faults: readonly RowFault[] } {
  const { id, score, createdAt, ...others } = isRecord(value) ? value : {};
  const body = isRecord(value) ? others : value;
  const importFaults = [...idFaults(id, now), ...scoreFaults(score), ...timeFaults(createdAt, id, now)];
  if (validate({ body }) && importFaults.length === 0) {
    const at = typeof createdAt === "string" ? { at: Date.parse(createdAt) } : {};
    return { input: { ...others, id, score, ...at } as LeadInput };
  }
  return { faults: [...schemaFaults(body), ...importFaults].slice(0, maxFaults) };
}

const schemaFaults = (body: unknown) =>
  toFaults(validate.errors ?? [], { query: noQuery, body: fields }, { query: {}, body }).map(
    ({ field, code, message }) =>
      rowFault(field, code, code === "unknown" ? "is not a field of a lead" : message),
  );

function idFaults(id: unknown, now: number): RowFault[] {
  if (id === undefined) return [];
  if (!isLeadId(id)) return [rowFault("id", "invalid_format", "must be lead_ followed by a ULID")];
  if (idTimestamp(id) <= now + limits.skew) return [];
  return [rowFault("id", "out_of_range", "must not contain a future time")];
}

const leadId = new RegExp(`^lead_${ulidPattern}$`);

const isLeadId = (id: unknown): id is string => typeof id === "string" && leadId.test(id);

function scoreFaults(score: unknown): RowFault[] {
  const { minimum, maximum } = lead.properties.score;
  const valid = typeof score === "number" && Number.isInteger(score) && score >= minimum && score <= maximum;
  if (score === undefined || valid) return [];
  return [rowFault("score", "out_of_range", `must be a whole number from ${minimum} to ${maximum}`)];
}

function timeFaults(createdAt: unknown, id: unknown, now: number): RowFault[] {
  if (createdAt === undefined) return [];
  const fault = (code: RowFault["code"], message: string) => [rowFault("createdAt", code, message)];
  const time = isDateTime(createdAt) ? Date.parse(createdAt) : Number.NaN;
  if (Number.isNaN(time))
    return fault("invalid_format", "must be a date and time with a time zone, such as 2026-11-21T01:59:00Z");
  if (time < 0 || time > now + limits.skew) return fault("out_of_range", "must be between 1970 and now");
  if (isLeadId(id) && idTimestamp(id) !== time)
    return fault("not_allowed", "must be the time that the id contains");
  return [];
}

const isDateTime = new Ajv2020({
  ...options,
  formats: { "date-time": fullFormats["date-time"] },
}).compile<string>({
  type: "string",
  format: "date-time",
});
