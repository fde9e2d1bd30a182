import { withChanges } from "../../../../shared/domain/lead-changes.ts";
import { nameKeys } from "../../../../shared/domain/lead-names.ts";
import { toFaults } from "../../../../shared/http/schema-faults.ts";
import { hasIdForm, idTimestamp, maxIdAhead } from "../../../../shared/ids.ts";
import { isRecord } from "../../../../shared/json.ts";
import { normalizeLabel } from "../../../../shared/normalize-label.ts";
import { addressFaults, sizeFaults } from "../../../../shared/schemas/field-schemas.ts";
import { type Lead, lead } from "../../../../shared/schemas/lead-schemas.ts";
import { requestValidator } from "../../../../shared/schemas/validator.ts";
import { parseTimestamp } from "../../../../shared/timestamps.ts";
import { shellWord } from "../../output/printed-text.ts";
import { parseTime } from "./creation-time.ts";
import { type Row, type RowFault, rowFault } from "./file-parts.ts";

/** A lead with the fields that a row has. */
type RowLead = Omit<Lead, "id" | "createdAt" | "updatedAt"> & Partial<Pick<Lead, "id" | "createdAt">>;

/** A valid row of a file of leads. */
export interface LeadRow extends Pick<Row, "line" | "sha256"> {
  readonly value: Partial<Omit<Lead, "updatedAt">>;
  /** Has no name only if the row may change a stored lead. */
  readonly lead: RowLead;
  /** The creation time of its lead if the row has none, in milliseconds since the epoch. */
  readonly time: number;
}

/** The import that a row belongs to. */
export interface Import {
  /** Its start, in milliseconds since the epoch. No lead may be created later. */
  readonly startedAt: number;
  /** Whether a row may change a stored lead, and so does not need a name. */
  readonly update: boolean;
  /** The lines of the valid rows so far, by the names of their leads. */
  readonly lines: Map<string, number>;
}

/** The schema of a row, as far as the validators of the routes can check it. */
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
  const option = `--map-value ${shellWord(`${Object(body).status}=new`)}`;
  return toFaults(validate.errors ?? [], schemas, { query: {}, body } as never).map(
    ({ field, code, message }) =>
      rowFault(field, code, field === "status" ? `${message}: ${option} says which one it is` : message),
  );
}

/**
 * Checks a row as the API checks a new lead, and the fields that only an import can set.
 *
 * @param left how many rows follow it
 */
export function rowToLead(
  { value, line, sha256 }: Row,
  left: number,
  { startedAt, update, lines }: Import,
): LeadRow | { readonly faults: readonly RowFault[] } {
  // `updatedAt` is ignored: an export has the time of a change in its own table, and other files have it in any form.
  const { updatedAt: _, ...row } = Object(value) as Readonly<Record<string, unknown>>;
  const { id, externalId, addresses, name, createdAt: time } = row;
  const faults = schemaFaults(isRecord(value) ? row : value);
  const mayBeStored = update && [id, externalId, addresses].some((part) => part !== undefined);
  const others = [
    ...(name === undefined && !mayBeStored ? [rowFault("name", "required", "is required")] : []),
    ...sizeFaults(row),
    ...addressFaults(row),
    ...reservedFaults(row),
    ...textFaults(row),
    ...(typeof id === "string" ? idFaults(id, startedAt) : []),
    ...(typeof time === "string" ? creationFaults(time, id, startedAt) : []),
  ];
  if (faults.length + others.length > 0) return { faults: [...faults, ...others] };
  const lead: RowLead = withChanges(
    { score: 0, status: "new", tags: [], ...("metadata" in row && { metadata: {} }) },
    row as Partial<Lead>,
  );
  const names = nameKeys("", lead).map(({ pk, sk }) => `${pk} ${sk}`);
  // Two rows of one lead would be stored in any order.
  if (id !== undefined) names.push(`${id}`);
  const repeated = names.find((each) => lines.has(each));
  if (repeated !== undefined)
    return { faults: [rowFault("", "repeated", `names the lead of line ${lines.get(repeated)}`)] };
  for (const each of names) lines.set(each, line);
  // A millisecond for each row, so that rows keep the file's order and none has a later time than the import.
  return { line, value: row, lead, sha256, time: startedAt - left };
}

/** JavaScript reserves the name `__proto__`, which the API also rejects. */
const reservedFaults = ({ metadata }: Readonly<Record<string, unknown>>) =>
  Object.hasOwn(Object(metadata), "__proto__")
    ? [rowFault("metadata", "forbidden_key", "must not have the name __proto__")]
    : [];

/** A long number that a spreadsheet has shortened, or what it shows in place of a value that it cannot work out. */
const damaged = /^(?:\d(?:[.,]\d+)?[Ee]\+\d+|#(?:N\/A|NV|[\p{Lu}\d/]+[!?]))$/u;

/** A number as it is dialled within a country: no country code begins with 0. */
const localNumber = /^\(?0[\s()/-]*[1-9]/;

/** The faults of texts that the API accepts, but that name several people or nobody. */
function textFaults({ name, externalId, addresses }: Readonly<Record<string, unknown>>): RowFault[] {
  const channels = Object.entries<unknown>(Object(addresses));
  const texts = Object.entries({ name, externalId, addresses: channels.flatMap(([, each]) => each) });
  const whatsapp = channels.flatMap(([name, texts]) => (normalizeLabel(name) === "whatsapp" ? texts : []));
  const faultsOf = (field: string, value: unknown, wrong: RegExp, message: string): RowFault[] =>
    [value].flat().some((text) => wrong.test(String(text)))
      ? [rowFault(field, "invalid_format", message)]
      : [];
  return [
    ...texts.flatMap(([field, value]) => faultsOf(field, value, damaged, damage)),
    ...faultsOf("addresses[whatsapp]", whatsapp, localNumber, countryCode),
  ];
}

const damage = "must not be what a spreadsheet made of it, such as 4.91772E+11 or #N/A: correct it there";
const countryCode = "must begin with the country code, such as +49: without it, the number reaches nobody";

const idForm =
  "must be lead_ followed by a ULID, as in an export: for ids of your own, use --map id=externalId";

/** The fault of an id, if it has one: it must have the form that the API gives it, and no future time. */
function idFaults(id: string, now: number): RowFault[] {
  if (!hasIdForm("lead", id)) return [rowFault("id", "invalid_format", idForm)];
  return idTimestamp(id) <= now + maxIdAhead
    ? []
    : [rowFault("id", "out_of_range", "must not contain a future time")];
}

const timeForm =
  "must have the form of ISO 8601, such as 2026-11-21T01:59:00Z: see --date-format and --time-zone";
const withZone = "must have a time zone, such as 2026-11-21T01:59:00Z: see --time-zone";

function creationFaults(text: string, id: unknown, now: number): RowFault[] {
  const field = "createdAt";
  const time = parseTimestamp(text);
  if (time === undefined)
    return [rowFault(field, "invalid_format", parseTime(text, "UTC") === undefined ? timeForm : withZone)];
  if (time < 0 || time > now + maxIdAhead)
    return [rowFault(field, "out_of_range", "must be between 1970 and now")];
  if (typeof id !== "string" || idFaults(id, now).length > 0 || idTimestamp(id) === time) return [];
  return [rowFault(field, "not_allowed", "must be the time that the id contains")];
}
