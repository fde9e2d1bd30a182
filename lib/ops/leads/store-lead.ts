import { isDeepStrictEqual } from "node:util";
import { nameRequired, updateLead } from "../../../shared/domain/create-lead.ts";
import { withChanges } from "../../../shared/domain/lead-changes.ts";
import { findNamed, nameTaken, putName } from "../../../shared/domain/lead-names.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { ifValid } from "../../../shared/dynamodb/invalid-items.ts";
import { erasedLeadKey, leadImportKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { invalidInput } from "../../../shared/errors.ts";
import { createdAt, isId, newId } from "../../../shared/ids.ts";
import type { Lead, LeadUpdate } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { UserError } from "../../user-error.ts";
import { erasureAsRead } from "../erasure/erased-leads.ts";
import { putAbsent, type Storing, spend } from "../table/store-rows.ts";
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
    const ids = new Set([row.lead.id, record?.leadId].filter((id) => id !== undefined));
    const known = await Promise.all(Array.from(ids, (id) => readKnown(account, id)));
    const erased = known.filter(({ erasure }) => erasure && !erasure.undone);
    if (erased.some(({ id }) => id === row.lead.id)) return "erased";
    const stored = known.find(({ item }) => item)?.item;
    if (stored && !update) return compare(stored, row);
    const { item: named, names } = await findNamed(account, { ...row.value, id: stored?.sk as string });
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
    // Receivers of events ignore the id of a lead that is gone with its import.
    const isGone = known.some(({ id, erasure }) => erasure && id === row.lead.id);
    const lead = identify(row, isGone ? undefined : row.lead.id);
    await addLead(storing, row, lead, record?.leadId, [
      ...known.map(({ id, erasure }) => erasureAsRead(account, id, erasure)),
      ...names.map((name) => putName(name, lead.id)),
    ]);
    return "stored";
  });
  await spend(storing, row.lead, outcome, outcome === "stored" ? 2 : 1);
  return outcome;
}

/**
 * Stores a lead and the record of its row, if no other run has made a lead of it since.
 *
 * @param made the lead that was made of it before
 * @param others what is written and checked together with it
 */
async function addLead(
  storing: Storing,
  row: LeadRow,
  lead: Omit<Lead, "updatedAt">,
  made: string | undefined,
  others: TransactItems,
): Promise<void> {
  const { account, runId: importId } = storing;
  // Who asks what has changed since then is to find it, however old it is.
  const storedAt = new Date().toISOString();
  const Item = toItem.leadImport(account, { sha256: row.sha256, leadId: lead.id, importId, storedAt });
  const items = [
    { Put: putAbsent(storing, leadItem(account, { ...lead, updatedAt: storedAt })) },
    { Put: { TableName: tableName, Item, ...isAsRead("leadId", made) } },
    ...others,
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

/** A lead by an id of its row, or what is left of it if it is erased. */
async function readKnown(account: string, id: string) {
  const item = await readItem(leadKey(account, id));
  return { id, item, erasure: item ? undefined : await readItem(erasedLeadKey(account, id)) };
}

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
