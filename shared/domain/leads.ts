import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import {
  keyAttributes,
  leadEmailPartition,
  leadKey,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { checkKeys } from "../dynamodb/malformed-items.ts";
import { type Item, readItem, table, tableName } from "../dynamodb/table-client.ts";
import { createdAt, newId } from "../ids.ts";
import { type Page, type PageRequest, toOrder } from "../pages/page.ts";
import { listPage } from "../pages/read/list-page.ts";
import { creationWindow } from "../pages/read/window.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import { type Lead, type LeadsQuery, lead as leadSchema, type NewLead } from "../schemas/lead-schemas.ts";
import { readRecord, toRecord } from "../schemas/record.ts";
import { validateLead } from "../schemas/record-validators.ts";
import { storedName } from "../stored-name.ts";
import { type IdempotentRequest, type Replayed, runIdempotently, transactOnce } from "./idempotent-replay.ts";
import { admitLongList } from "./list-admission.ts";

/**
 * Stores a new lead.
 *
 * @throws ApiError `idempotency_key_reused`
 */
export async function createLead(
  account: string,
  input: NewLead,
  idempotency?: IdempotentRequest,
): Promise<Lead | Replayed<Lead>> {
  const source = input.source && storedName(input.source);
  const buildLead = ({ id }: Pick<Lead, "id">) =>
    toRecord(leadSchema, {
      ...{ score: 0, status: "new", tags: [], ...input, source, id },
      createdAt: createdAt(id),
    });
  if (!idempotency) {
    const lead = buildLead({ id: newId("lead") });
    // If the id exists, an attempt whose response was lost has stored it.
    await addLead(account, lead);
    return lead;
  }
  return runIdempotently(idempotency, { id: "lead" }, buildLead, async () => {
    const lead = buildLead({ id: newId("lead") });
    await transactOnce(idempotency, { id: lead.id }, [{ Put: putNew(account, lead) }]);
    return lead;
  });
}

/** Stores a lead, unless the account has one with its id. */
async function addLead(account: string, lead: Lead): Promise<void> {
  await table.send(new PutCommand(putNew(account, lead))).catch((error: unknown) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
}

const putNew = (account: string, lead: Lead) => ({
  TableName: tableName,
  Item: leadItem(account, lead),
  ConditionExpression: "attribute_not_exists(pk)",
});

/** Whether the account has the lead, read consistently. */
export async function leadExists(account: string, id: string): Promise<boolean> {
  const projection = { ProjectionExpression: "pk" };
  return (await readItem(leadKey(account, id), projection)) !== undefined;
}

/** A page of the account's leads, newest first unless the query says otherwise. */
export async function listLeads(
  account: string,
  { id: ids, email, status, source, sort, ...times }: LeadsQuery,
  page: PageRequest,
): Promise<Page<Lead>> {
  const list = countedLists.lead;
  const parent = email === undefined ? undefined : leadEmailPartition(account, email);
  const filter = { status, sourceOrChannel: source && storedName(source) };
  const selection = { account, list, ids, parent, filter, window: creationWindow(list, times) };
  const request = { ...page, ascending: toOrder(sort).ascending };
  return listPage(selection, request, toListed(account), () => admitLongList(account));
}

/** The item of a lead: its fields, and a key for each index that lists it. `details` has those that no list is read by. */
export function leadItem(account: string, lead: Lead) {
  const { id, status, source, ...details } = lead;
  return {
    ...leadKey(account, id),
    byStatus: statusPartition("lead", account, status),
    ...(source !== undefined && {
      source,
      byOrigin: sourceOrChannelPartition("lead", account, source),
      byStatusAndOrigin: statusAndSourceOrChannelPartition("lead", account, status, source),
    }),
    ...(lead.email !== undefined && { byParent: leadEmailPartition(account, lead.email) }),
    id,
    status,
    details,
  };
}

/** What a listed item must have as its lead gives it: the keys, and what lists are filtered by. */
const checkedAttributes = [...keyAttributes, "status", "source"];

/** The lead of an item. @throws MalformedItemError */
const toListed = (account: string) => (item: Item) => {
  const lead = readRecord(validateLead, item);
  checkKeys(item, leadItem(account, lead), checkedAttributes);
  return lead;
};
