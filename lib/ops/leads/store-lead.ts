import { isDeepStrictEqual } from "node:util";
import { nameRequired, updateLead } from "../../../shared/domain/create-lead.ts";
import { withChanges } from "../../../shared/domain/lead-changes.ts";
import { findNamed, nameTaken, putName } from "../../../shared/domain/lead-names.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { StaleReadError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { ifValid } from "../../../shared/dynamodb/invalid-items.ts";
import { erasedLeadKey, leadImportKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { invalidInput } from "../../../shared/errors.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import type { Lead, LeadUpdate } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { erasureAsRead } from "../erasure/erased-leads.ts";
import { checkWritable, putAbsent, type Storing, spend } from "../table/store-rows.ts";
import { toItem, toValidRecord } from "../table/valid-records.ts";
import type { LeadRow } from "./file/row-to-lead.ts";

/** The outcome of a row. A `different` lead is present with other values. */
type RowOutcome = "stored" | "updated" | "present" | "different" | "erased";

/**
 * Stores the lead of a row, unless the row was stored before, or a lead with its id or its external id exists.
 *
 * @param update whether to change the lead that the row names, as `POST /api/v1/leads?ifExists=update` does
 * @throws ApiError `invalid_input` if the row does not fit what is stored; `lead_exists` if another lead has its address
 * @throws InvalidItemError if it cannot be read which lead was made of the row
 */
export async function storeLead(storing: Storing, row: LeadRow, update: boolean): Promise<RowOutcome> {
  const { account, runId, pace } = storing;
  const { externalId } = row.lead;
  const recordKey = leadImportKey(account, row.sha256);
  const outcome = await pace.retry(async () => {
    const recorded = await readItem(recordKey);
    const record = recorded && toValidRecord("leadImport", recorded);
    // An attempt whose response was lost has stored the row.
    if (record?.importId === runId) return "stored";
    const ids = new Set([row.lead.id, record?.leadId].filter((id) => id !== undefined));
    const known = await Promise.all(Array.from(ids, (id) => readKnown(account, id)));
    const erased = known.filter(({ erasure }) => erasure && !erasure.undone);
    if (erased.some(({ id }) => id === row.lead.id)) return "erased";
    const stored = known.find(({ item }) => item)?.item;
    if (stored && !update) return compare(stored, row);
    const { item: named, names } = await findNamed(account, { ...row.value, id: stored?.sk as string });
    if (named && update) {
      await checkWritable(storing);
      const { record: after } = await updateLead(account, named, changesOf(row), names);
      if (isDeepStrictEqual(after, readRecord(validateLead, named))) return compare(named, row);
      // With this time, an undo of the import still erases the lead. If the process is killed before, the undo keeps it.
      if (named.id === record?.leadId && fieldsOf(named).updatedAt === record?.storedAt)
        await updateItem(buildUpdate(recordKey, { storedAt: after.updatedAt }, recorded));
      return "updated";
    }
    if (named && externalId !== undefined && fieldsOf(named).externalId === externalId)
      return compare(named, row);
    if (erased.length > 0) return "erased";
    if (row.value.name === undefined) throw invalidInput([nameRequired]);
    const taken = names.find(({ item }) => item);
    // Another import may have stored this row since its record was read.
    if (taken && !isDeepStrictEqual(await readItem(recordKey), recorded)) throw new StaleReadError();
    if (taken) throw nameTaken(account, taken);
    // If its import was undone, the lead gets a new id, because receivers of events ignore the id of an erased lead.
    const isGone = known.some(({ id, erasure }) => erasure && id === row.lead.id);
    const lead = identify(row, isGone ? undefined : row.lead.id);
    await checkWritable(storing);
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
 * Stores a lead and the record of its row, if no other run has made a lead of the row since.
 *
 * @param made the id of the lead that was made of the row before
 * @param others the writes and checks in the same transaction
 */
async function addLead(
  storing: Storing,
  row: LeadRow,
  lead: Omit<Lead, "updatedAt">,
  made: string | undefined,
  others: TransactItems,
): Promise<void> {
  const { account, runId: importId } = storing;
  // Incremental readers must find this lead, however old its id is.
  const storedAt = new Date().toISOString();
  const Item = toItem.leadImport(account, { sha256: row.sha256, leadId: lead.id, importId, storedAt });
  const items = [
    { Put: putAbsent(storing, leadItem(account, { ...lead, updatedAt: storedAt })) },
    { Put: { TableName: tableName, Item, ...isAsRead("leadId", made) } },
    ...others,
  ];
  await transact(items);
}

/** Reads a lead by an id of its row, or what remains of the lead if it is erased. */
async function readKnown(account: string, id: string) {
  const item = await readItem(leadKey(account, id));
  return { id, item, erasure: item ? undefined : await readItem(erasedLeadKey(account, id)) };
}

/** The fields that a row changes in a lead. The lead keeps its id and its creation time. */
function changesOf({ value }: LeadRow): LeadUpdate {
  const { id: _, createdAt: __, ...changes } = value;
  return changes;
}

/** Whether a stored lead has the values of its row. An invalid lead counts as `present`. */
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

/** The lead of a row, with an id that contains its creation time. */
function identify({ lead, time }: LeadRow, known: string | undefined): Omit<Lead, "updatedAt"> {
  const at = lead.createdAt ?? (lead.id && createdAt(lead.id));
  const id = known ?? newId("lead", at === undefined ? time : Date.parse(at));
  return { ...lead, id, createdAt: createdAt(id) };
}
