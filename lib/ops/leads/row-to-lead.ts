import { encodeTime } from "ulid";
import { maxFaults } from "../../../shared/errors.ts";
import { toFaults } from "../../../shared/http/schema-faults.ts";
import { createdAt, hasIdForm, idTimestamp, maxIdAhead } from "../../../shared/ids.ts";
import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";
import { noQuery } from "../../../shared/schemas/page-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import { requestValidator } from "../../../shared/schemas/validator.ts";
import { storedName } from "../../../shared/stored-name.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { type RowFault, rowFault } from "./csv-rows.ts";

/** A row of a file of leads: the fields of a lead, of which only the name is required. */
type LeadRow = Partial<Lead> & Pick<Lead, "name">;

/** The file that a row is in. */
interface LeadFile {
  /** The SHA-256 of the file's bytes. */
  readonly digest: Buffer;
  /** The start of the file's first import, in milliseconds since the epoch. No lead may be created later. */
  readonly startedAt: number;
}

/** What the validators of the routes can say of a row. Requests have no numbers. */
const row = {
  ...lead,
  properties: { ...lead.properties, id: { type: "string" }, score: {} },
  required: ["name"],
} as const;

const validate = requestValidator({ properties: { body: row } });

/** The faults of a row, in the words of the API. */
function schemaFaults(body: unknown): RowFault[] {
  if (validate({ body })) return [];
  const schemas = { query: noQuery, body: row as never };
  return toFaults(validate.errors ?? [], schemas, { query: {}, body } as never).map(
    ({ field, code, message }) =>
      rowFault(field, code, code === "unknown" ? "is not a field of a lead" : message),
  );
}

function scoreFaults(score: unknown): RowFault[] {
  const { minimum, maximum } = lead.properties.score;
  if (
    score === undefined ||
    (Number.isInteger(score) && Number(score) >= minimum && Number(score) <= maximum)
  )
    return [];
  return [rowFault("score", "out_of_range", `must be a whole number from ${minimum} to ${maximum}`)];
}

/**
 * Checks a row as the API checks a new lead, and the fields that only an import can set.
 *
 * @param line the number of the row's first line
 * @returns the lead of the row, the same in every import of the file, or what is wrong with the row
 */
export function rowToLead(
  value: unknown,
  line: number,
  { digest, startedAt }: LeadFile,
): { readonly lead: Lead } | { readonly faults: readonly RowFault[] } {
  const { id, createdAt: time, score: points } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const faults = [...schemaFaults(value), ...scoreFaults(points)].slice(0, maxFaults);
  const others = [
    ...(typeof id === "string" ? idFaults(id, startedAt) : []),
    ...(typeof time === "string" ? creationFaults(time, id, startedAt) : []),
  ];
  if (faults.length + others.length > 0) return { faults: [...faults, ...others] };
  const { score = 0, status = "new", tags = [], ...row } = value as LeadRow;
  const at = row.createdAt === undefined ? startedAt : Date.parse(row.createdAt);
  const leadId = row.id ?? `lead_${encodeTime(at, 10)}${randomPart(line, digest)}`;
  const source = row.source === undefined ? {} : { source: storedName(row.source) };
  const all = { ...row, ...source, score, status, tags, id: leadId, createdAt: createdAt(leadId) };
  return { lead: toRecord(lead, all) };
}

/** The fault of an id, if it has one: it must have the form that the API gives it, and no future time. */
function idFaults(id: string, now: number): RowFault[] {
  if (!hasIdForm("lead", id)) return [rowFault("id", "invalid_format", "must be lead_ followed by a ULID")];
  return idTimestamp(id) <= now + maxIdAhead
    ? []
    : [rowFault("id", "out_of_range", "must not contain a future time")];
}

function creationFaults(text: string, id: unknown, now: number): RowFault[] {
  const field = "createdAt";
  const time = parseTimestamp(text);
  if (time === undefined) {
    const form = "must be a date and time with a time zone, such as 2026-11-21T01:59:00Z";
    return [rowFault(field, "invalid_format", form)];
  }
  if (time < 0 || time > now + maxIdAhead)
    return [rowFault(field, "out_of_range", "must be between 1970 and now")];
  if (typeof id !== "string" || idFaults(id, now).length > 0 || idTimestamp(id) === time) return [];
  return [rowFault(field, "not_allowed", "must be the time that the id contains")];
}

/**
 * The 80 bits after the time of a ULID: 35 bits of the line, so that rows with the same time keep the file's order, and
 * 45 bits of the file's digest, so that no other import and no route creates the same id.
 */
const randomPart = (line: number, digest: Buffer) =>
  encodeTime(line, 7) + encodeTime(Math.floor(digest.readUIntBE(0, 6) / 8), 9);
