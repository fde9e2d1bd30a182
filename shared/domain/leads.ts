import { checkedReader } from "../dynamodb/invalid-items.ts";
import { accountPartition, keyAttributes, leadEmailPartition, leadKey } from "../dynamodb/keys.ts";
import { type Item, type Key, readItem, readItems } from "../dynamodb/table-client.ts";
import { withBackoff } from "../dynamodb/throttling.ts";
import { buildUpdate } from "../dynamodb/updates.ts";
import { isId } from "../ids.ts";
import { normalizeLabel } from "../normalize-label.ts";
import { type Page, pageRequest, toOrder } from "../pages/page.ts";
import { byChange } from "../pages/read/choose-index.ts";
import { readList } from "../pages/read/read-list.ts";
import { creationWindow } from "../pages/read/window.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import type { Lead, LeadsQuery } from "../schemas/lead-schemas.ts";
import { validateLead } from "../schemas/record-validators.ts";
import { hasName, nameKeys } from "./lead-names.ts";

/** Reads what messages need of their lead, consistently; undefined if the account has no such lead. */
export const readRecipient = (account: string, id: string): Promise<Item | undefined> =>
  readItem(leadKey(account, id), { ProjectionExpression: "pk, addresses, undoing" });

/** Whether the account has the lead, read consistently. */
export const leadExists = async (account: string, id: string): Promise<boolean> =>
  (await readRecipient(account, id)) !== undefined;

/** The update that keeps a lead which is about to be erased, because its import is being undone. */
export const keepLead = (account: string, id: string) =>
  buildUpdate(leadKey(account, id), { undoing: undefined }, { undoing: true });

/** Reads a page of the account's leads, newest first unless the query sorts them. */
export async function listLeads(
  account: string,
  {
    id,
    externalId: externalIds,
    address: addresses,
    email,
    status,
    source,
    sort,
    updatedAfter,
    updatedBefore,
    page,
    limit,
    createdAfter,
    createdBefore,
    ...unread
  }: LeadsQuery,
): Promise<Page<Lead>> {
  // A parameter that is not read here would be accepted and do nothing.
  unread satisfies Record<string, never>;
  const list = countedLists.lead;
  const names = [
    externalIds?.flatMap((externalId) => nameKeys(account, { externalId })),
    addresses?.flatMap((address) => nameKeys(account, { addresses: toAddresses(address) })),
  ].filter((keys) => keys !== undefined);
  const named = await Promise.all(names.map((keys) => readLeadIds(account, keys)));
  const asked = id ? [...named, id] : named;
  const ids = asked[0]?.filter((each) => asked.every((some) => some.includes(each)));
  const parent = email === undefined ? undefined : leadEmailPartition(account, email);
  const filter = { status, label: source && normalizeLabel(source) };
  // Another lead may get the name meanwhile.
  const isAsked = (item: Item) => names.every((keys) => keys.some((key) => hasName(account, item, key)));
  const order = toOrder(sort);
  const timed = byChange(order, updatedAfter, updatedBefore);
  const window = creationWindow(list, createdAfter, createdBefore);
  const paging = pageRequest({ page, limit });
  const request = { ...paging, ...order, account, list, ids, isAsked, parent, filter, window, timed };
  // The keys, and what lists are filtered by.
  const checked = timed ? ["pk", "sk", "activeAt"] : [...keyAttributes, "status", "source"];
  const read = checkedReader(validateLead, (lead) => leadItem(account, lead), checked);
  return readList(request, read);
}

/** Reads an address filter: a channel, a colon and an address. A + that was not percent-encoded arrives as a blank. */
export function toAddresses(filter: string) {
  const end = filter.indexOf(":");
  const address = filter.slice(end + 1).replace(/^ (?=[\d(])/, "+");
  return { [normalizeLabel(filter.slice(0, end))]: address.trim() };
}

async function readLeadIds(account: string, keys: readonly Key[]): Promise<readonly string[]> {
  const different = [...new Map(keys.map((key) => [key.sk, key])).values()];
  const items = await withBackoff(`names ${account}`, "Too many leads are looked up at once.", () =>
    readItems(different, true),
  );
  return items.flatMap(({ leadId }) => (isId("lead", leadId) ? [leadId] : []));
}

/**
 * The item of a lead: its fields, and a key for each index that lists it. `details` has the fields that no list is read by,
 * and the time of the last change (at first, of the creation), because `activeAt` is a key of one index alone.
 */
export function leadItem(account: string, lead: Omit<Lead, "updatedAt"> & { updatedAt?: string }) {
  const { id, status, source, addresses, updatedAt = lead.createdAt, ...details } = lead;
  return {
    ...leadKey(account, id),
    byStatus: accountPartition("lead", account, status),
    ...(source !== undefined && {
      source,
      byLabel: accountPartition("lead", account, source),
      byStatusAndLabel: accountPartition("lead", account, status, source),
    }),
    ...(lead.email !== undefined && { byParent: leadEmailPartition(account, lead.email) }),
    ...(addresses && { addresses }),
    activeAt: updatedAt,
    id,
    status,
    details: { ...details, updatedAt },
  };
}
