import { isDeepStrictEqual } from "node:util";
import { nameRequired, updateLead } from "../../../shared/domain/create-lead.ts";
import { withChanges } from "../../../shared/domain/lead-changes.ts";
import { findNamed, type LeadName, nameTaken, putName } from "../../../shared/domain/lead-names.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { ifValid } from "../../../shared/dynamodb/invalid-items.ts";
import { erasedLeadKey, leadImportKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { invalidInput } from "../../../shared/errors.ts";
import { createdAt, isId, newId } from "../../../shared/ids.ts";
import type { Lead, LeadUpdate } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { UserError } from "../../user-error.ts";
import { isErased, putAbsent, type Storing, spend } from "../erasure/store-rows.ts";
import { toItem } from "../table/valid-records.ts";
import type { LeadRow } from "./file/row-to-lead.ts";

/** What became of a row. A `different` lead is present with other values. */
type RowOutcome = "stored" | "updated" | "present" | "different" | "erased";

/**
 * Stores the lead of a row, unless the row was stored before, or a lead with its id or its external id exists.
 *
 * @param update whether to change the lead that the row names, as `POST /api/v1/leads?ifExists=update` does
 * @throws ApiError `invalid_input` if the row does not fit what is stored; `lead_exists` if another lead has an address of it
 */
export async function storeLead(storing: Storing, row: LeadRow, update: boolean): Promise<RowOutcome> {
  const { account, runId, pace } = storing;
  const { externalId } = row.lead;
  const outcome = await pace.retry(async () => {
    const record = await readRowRecord(account, row);
    // An attempt whose response was lost has stored it.
    if (record?.importId === runId) return "stored";
    const id = await unlessUndone(storing, row.lead.id);
    const made = await unlessUndone(storing, record?.leadId);
    const known = [id, made].filter((each) => each !== undefined);
    const erased = known.filter((each) => isErased(storing, each));
    if (id !== undefined && erased.includes(id)) return "erased";
    const items = await Promise.all(known.map((each) => readItem(leadKey(account, each))));
    const stored = items.find((item) => item && !erased.includes(String(item.sk)));
    if (stored && !update) return compare(stored, row);
    const { item: named, names } = await findNamed(account, { ...row.value, id: stored?.sk as string });
    if (named && isErased(storing, String(named.id))) return "erased";
    if (named && update) {
      const { record: after } = await updateLead(account, named, changesOf(row), names);
      if (isDeepStrictEqual(after, readRecord(validateLead, named))) return compare(named, row);
      // Who undoes the import takes this back, too. A kill before it keeps the lead.
      if (named.id === record?.leadId && fieldsOf(named).updatedAt === record?.storedAt)
        await updateItem(
          buildUpdate(leadImportKey(account, row.sha256), { storedAt: after.updatedAt }, record),
        );
      return "updated";
    }
    if (named && externalId !== undefined && fieldsOf(named).externalId === externalId)
      return compare(named, row);
    if (erased.length > 0) return "erased";
    if (row.value.name === undefined) throw invalidInput([nameRequired]);
    const taken = names.find(({ item }) => item);
    if (taken) throw nameTaken(account, taken);
    await addLead(storing, row, identify(row, id), names, record?.leadId);
    return "stored";
  });
  await spend(storing, row.lead, outcome);
  // A transaction writes each item twice.
  if (outcome === "stored") await spend(storing, row.lead, outcome);
  return outcome;
}

/** Stores a lead with its names, and the record of its row, if no other run has made a lead of it since. @param made of it before */
async function addLead(
  storing: Storing,
  row: LeadRow,
  lead: Omit<Lead, "updatedAt">,
  names: readonly LeadName[],
  made: string | undefined,
): Promise<void> {
  const { account, runId: importId } = storing;
  // Who asks what has changed since then is to find it, however old it is.
  const storedAt = new Date().toISOString();
  const Item = toItem.leadImport(account, { sha256: row.sha256, leadId: lead.id, importId, storedAt });
  const items = [
    { Put: putAbsent(storing, leadItem(account, { ...lead, updatedAt: storedAt })) },
    { Put: { TableName: tableName, Item, ...isAsRead("leadId", made) } },
    ...names.map((name) => putName(name, lead.id)),
  ];
  await transact(items, true);
}

/** The record of a row. @throws UserError if it cannot be read */
async function readRowRecord(account: string, { sha256 }: LeadRow) {
  const key = leadImportKey(account, sha256);
  const record = await readItem(key);
  const leadId = record?.leadId;
  if (record && !isId("lead", leadId))
    throw new UserError(
      `Which lead was made of a row cannot be read: delete the item ${key.pk} ${sha256} in the table.`,
    );
  return record && { leadId: String(leadId), importId: record.importId, storedAt: record.storedAt };
}

/** An id, unless its lead is gone with its import. Receivers of events ignore the id from then on. */
const unlessUndone = async ({ account, erased }: Storing, id: string | undefined) =>
  id !== undefined && erased.has(id) && (await readItem(erasedLeadKey(account, id)))?.undone ? undefined : id;

/** What a row changes of a lead, which keeps its id and its time. */
function changesOf({ value }: LeadRow): LeadUpdate {
  const { id: _, createdAt: __, ...changes } = value;
  return changes;
}

/** Whether a stored lead is as its row says. */
function compare(item: Item, row: LeadRow): RowOutcome {
  const record = ifValid(
    () => readRecord(validateLead, item),
    () => {},
  );
  if (!record) return "present";
  const { createdAt = record.createdAt } = row.lead;
  const isSame = isDeepStrictEqual({ ...withChanges(record, changesOf(row)), createdAt }, record);
  return isSame ? "present" : "different";
}

/** The lead of a row, whose id has its time. */
function identify({ lead, time }: LeadRow, known: string | undefined): Omit<Lead, "updatedAt"> {
  const at = lead.createdAt ?? (lead.id && createdAt(lead.id));
  const id = known ?? newId("lead", at === undefined ? time : Date.parse(at));
  return { ...lead, id, createdAt: createdAt(id) };
}
