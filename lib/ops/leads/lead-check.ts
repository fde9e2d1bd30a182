import { encodeTime } from "ulid";
import { createdAt, idTimestamp } from "../../../shared/ids.ts";
import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import { storedName } from "../../../shared/stored-name.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { fieldCheck, idFaults, notTimeOfId, timeFaults } from "../archive/check-fields.ts";
import { type RowFault, rowFault } from "../archive/row.ts";

/** A row of a file of leads: the fields of a lead, of which only the name is required. */
type LeadRow = Partial<Lead> & Pick<Lead, "name">;

/** The file that a row is in. */
export interface LeadFile {
  /** The SHA-256 of the file's bytes. */
  readonly digest: Buffer;
  /** The start of the file's first import, in milliseconds since the epoch. No lead may be created later. */
  readonly startedAt: number;
}

const check = fieldCheck("a lead", {
  ...lead,
  properties: { ...lead.properties, id: { type: "string" } },
  required: ["name"],
});

/**
 * Checks a row as the API checks a new lead, and the fields that only an import can set.
 *
 * @param line the number of the row's first line
 * @returns the lead of the row, the same in every import of the file, or what is wrong with the row
 */
export function checkLead(
  value: unknown,
  line: number,
  { digest, startedAt }: LeadFile,
): { readonly lead: Lead } | { readonly faults: readonly RowFault[] } {
  const faults = check(value);
  const { id, createdAt: time } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const others = [
    ...(typeof id === "string" ? idFaults("id", id, "lead", startedAt) : []),
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

function creationFaults(text: string, id: unknown, now: number): RowFault[] {
  const field = "createdAt";
  const time = parseTimestamp(text);
  if (time === undefined) {
    const form = "must be a date and time with a time zone, such as 2026-11-21T01:59:00Z";
    return [rowFault(field, "invalid_format", form)];
  }
  const faults = timeFaults(field, new Date(time).toISOString(), now);
  if (faults.length > 0 || typeof id !== "string" || idFaults("id", id, "lead", now).length > 0)
    return faults;
  return idTimestamp(id) === time ? [] : [notTimeOfId];
}

/**
 * The 80 bits after the time of a ULID: 35 bits of the line, so that rows with the same time keep the file's order, and
 * 45 bits of the file's digest, so that no other import and no route creates the same id.
 */
const randomPart = (line: number, digest: Buffer) =>
  encodeTime(line, 7) + encodeTime(Math.floor(digest.readUIntBE(0, 6) / 8), 9);
