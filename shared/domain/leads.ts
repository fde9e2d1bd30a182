import { checkKeys } from "../dynamodb/invalid-items.ts";
import {
  externalIdKey,
  keyAttributes,
  labelPartition,
  leadEmailPartition,
  leadKey,
  statusAndLabelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { type Item, readItem, readItems } from "../dynamodb/table-client.ts";
import { withBackoff } from "../dynamodb/throttling.ts";
import { isId } from "../ids.ts";
import { normalizeLabel } from "../normalize-label.ts";
import { type Page, type PageRequest, toOrder, type Unfiltered } from "../pages/page.ts";
import { readList } from "../pages/read/read-list.ts";
import { type CreationTimes, creationWindow } from "../pages/read/window.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import { admitLongList } from "../rate-limit/list-admission.ts";
import type { Lead, LeadsQuery } from "../schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../schemas/record.ts";
import { validateLead } from "../schemas/record-validators.ts";

/** Whether the account has the lead, read consistently. */
export async function leadExists(account: string, id: string): Promise<boolean> {
  const projection = { ProjectionExpression: "pk" };
  return (await readItem(leadKey(account, id), projection)) !== undefined;
}

/** A page of the account's leads, newest first unless the query says otherwise. */
export async function listLeads(
  account: string,
  { id, externalId: externalIds, email, status, source, sort, ...times }: LeadsQuery,
  page: PageRequest,
): Promise<Page<Lead>> {
  times satisfies Unfiltered<typeof times, keyof CreationTimes>;
  const list = countedLists.lead;
  const named = externalIds && (await findNamed(account, externalIds));
  const ids = named && id ? named.filter((each) => id.includes(each)) : (named ?? id);
  const parent = email === undefined ? undefined : leadEmailPartition(account, email);
  const filter = { status, label: source && normalizeLabel(source) };
  // Nobody but code that was taken over writes that a lead has the external id of another.
  const isAsked = (item: Item) => externalIds?.includes(String(fieldsOf(item).externalId)) ?? true;
  const selection = { account, list, ids, isAsked, parent, filter, window: creationWindow(list, times) };
  const request = { ...page, ...toOrder(sort) };
  return readList(selection, request, toListedLead(account), () => admitLongList(account));
}

/** The ids of the leads with some external ids, as they are now. */
async function findNamed(account: string, externalIds: readonly string[]): Promise<readonly string[]> {
  const keys = [...new Set(externalIds)].map((externalId) => externalIdKey(account, externalId));
  const items = await withBackoff(`external ids ${account}`, "Too many external ids are read at once.", () =>
    readItems(keys, true),
  );
  return items.flatMap(({ leadId }) => (isId("lead", leadId) ? [leadId] : []));
}

/** The item of a lead: its fields, and a key for each index that lists it. `details` has those that no list is read by. */
export function leadItem(account: string, lead: Lead) {
  const { id, status, source, ...details } = lead;
  return {
    ...leadKey(account, id),
    byStatus: statusPartition("lead", account, status),
    ...(source !== undefined && {
      source,
      byLabel: labelPartition("lead", account, source),
      byStatusAndLabel: statusAndLabelPartition("lead", account, status, source),
    }),
    ...(lead.email !== undefined && { byParent: leadEmailPartition(account, lead.email) }),
    id,
    status,
    details,
  };
}

/** What a listed item must have as its lead gives it: the keys, and what lists are filtered by. */
const checkedAttributes = [...keyAttributes, "status", "source"];

/** The lead of an item. @throws InvalidItemError */
const toListedLead = (account: string) => (item: Item) => {
  const lead = readRecord(validateLead, item);
  checkKeys(item, leadItem(account, lead), checkedAttributes);
  return lead;
};
