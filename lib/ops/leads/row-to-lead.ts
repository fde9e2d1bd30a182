import { createHash } from "node:crypto";
import { withChanges } from "../../../shared/domain/lead-changes.ts";
import { nameKeys } from "../../../shared/domain/lead-names.ts";
import { hashName } from "../../../shared/dynamodb/keys.ts";
import { maxFaults } from "../../../shared/errors.ts";
import { rangeMessage, toFaults } from "../../../shared/http/schema-faults.ts";
import { hasIdForm, idTimestamp, maxIdAhead } from "../../../shared/ids.ts";
import { addressFaults, sizeFaults } from "../../../shared/schemas/field-schemas.ts";
import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";
import { requestValidator } from "../../../shared/schemas/validator.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { isRecord } from "../../json.ts";
import { type RowFault, rowFault } from "./parse-csv.ts";

/** A lead as a row tells it. */
type RowLead = Omit<Lead, "id" | "createdAt" | "updatedAt"> & Partial<Pick<Lead, "id" | "createdAt">>;

/** A valid row of a file of leads. */
export interface LeadRow {
  /** The number of its first line. */
  readonly line: number;
  /** Its fields. */
  readonly value: Partial<Omit<Lead, "updatedAt">>;
  /** Without a name only if the row may change a lead that is stored. */
  readonly lead: RowLead;
  /** The SHA-256 of what is stored of the row, and of how many equal rows are before it: the same in every file. */
  readonly digest: Buffer;
  /** When its lead is created if neither the row nor an earlier import tells, in milliseconds since the epoch. */
  readonly time: number;
}

/** The import that a row is in. */
export interface Import {
  /** Its start, in milliseconds since the epoch. No lead may be created later. */
  readonly startedAt: number;
  /** Whether a row may change a lead that is stored, and so be without a name. */
  readonly update: boolean;
  /** The lines of the valid rows so far, by the names of their leads. */
  readonly lines: Map<string, number>;
  /** How many of the valid rows so far are equal, by their SHA-256. */
  readonly equals: Map<string, number>;
}

/** What the validators of the routes can say of a row. */
const row = {
  ...lead,
  properties: { ...lead.properties, id: { type: "string" } },
  required: [],
} as const;

const validate = requestValidator({ properties: { body: row } });

/** The faults of a row, in the words of the API. */
function schemaFaults(body: unknown): RowFault[] {
  if (validate({ body })) return [];
  const schemas = { query: {}, body: row as never };
  return toFaults(validate.errors ?? [], schemas, { query: {}, body } as never).map(
    ({ field, code, message }) =>
      // All cells are text.
      field === "score"
        ? rowFault(field, "out_of_range", rangeMessage(lead.properties.score))
        : rowFault(field, code, code === "unknown" ? "is not a field of a lead" : message),
  );
}

/**
 * Checks a row as the API checks a new lead, and the fields that only an import can set.
 *
 * @param line the number of the row's first line
 * @param left how many rows are behind it
 */
export function rowToLead(
  value: unknown,
  line: number,
  left: number,
  { startedAt, update, lines, equals }: Import,
): LeadRow | { readonly faults: readonly RowFault[] } {
  // An export tells when leads were changed there; in the files of others it is in any form.
  const { updatedAt: _, ...row } = Object(value) as Readonly<Record<string, unknown>>;
  const { id, externalId, addresses, name, createdAt: time } = row;
  const faults = schemaFaults(isRecord(value) ? row : value).slice(0, maxFaults);
  const mayBeStored = update && [id, externalId, addresses].some((part) => part !== undefined);
  const others = [
    ...(name === undefined && !mayBeStored ? [rowFault("name", "required", "is required")] : []),
    ...sizeFaults(row),
    ...addressFaults(row),
    ...(typeof id === "string" ? idFaults(id, startedAt) : []),
    ...(typeof time === "string" ? creationFaults(time, id, startedAt) : []),
  ];
  if (faults.length + others.length > 0) return { faults: [...faults, ...others] };
  const lead: RowLead = withChanges({ score: 0, status: "new", tags: [] }, row as Partial<Lead>);
  const names = nameKeys("", lead).map(({ pk, sk }) => `${pk} ${sk}`);
  // Two changes of one lead would come in any order.
  if (update && id !== undefined) names.push(`${id}`);
  const repeated = names.find((each) => lines.has(each));
  if (repeated !== undefined) {
    const isExternal = repeated === names[0] && externalId !== undefined;
    const field = repeated === id ? "id" : isExternal ? "externalId" : "addresses";
    return { faults: [rowFault(field, "repeated", `must not be that of line ${lines.get(repeated)}`)] };
  }
  for (const each of names) lines.set(each, line);
  // A millisecond for each row, so that rows keep the file's order and none has a later time than the import.
  return { line, value: row, lead, digest: toDigest(lead, equals), time: startedAt - left };
}

function toDigest(lead: RowLead, equals: Import["equals"]): Buffer {
  const { metadata = {}, addresses = {}, ...fields } = lead;
  // Files can have their columns in any order.
  const [entries, channels] = [metadata, addresses].map((map) => Object.entries(map).sort());
  const content = hashName(JSON.stringify([fields, entries, channels]));
  const before = equals.get(content) ?? 0;
  equals.set(content, before + 1);
  return createHash("sha256").update(`${content}#${before}`).digest();
}

const idForm =
  "must be lead_ followed by a ULID, as an export has it: an id of your own is an externalId, see --map";

/** The fault of an id, if it has one: it must have the form that the API gives it, and no future time. */
function idFaults(id: string, now: number): RowFault[] {
  if (!hasIdForm("lead", id)) return [rowFault("id", "invalid_format", idForm)];
  return idTimestamp(id) <= now + maxIdAhead
    ? []
    : [rowFault("id", "out_of_range", "must not contain a future time")];
}

function creationFaults(text: string, id: unknown, now: number): RowFault[] {
  const field = "createdAt";
  const time = parseTimestamp(text);
  if (time === undefined) {
    const form =
      "must be a date and time with a time zone, such as 2026-11-21T01:59:00Z, or without one, with --time-zone";
    return [rowFault(field, "invalid_format", form)];
  }
  if (time < 0 || time > now + maxIdAhead)
    return [rowFault(field, "out_of_range", "must be between 1970 and now")];
  if (typeof id !== "string" || idFaults(id, now).length > 0 || idTimestamp(id) === time) return [];
  return [rowFault(field, "not_allowed", "must be the time that the id contains")];
}
