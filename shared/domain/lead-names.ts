import { StaleReadError } from "../dynamodb/dynamodb-errors.ts";
import { accountPartition, addressKey, comparableAddress, externalIdKey, leadKey } from "../dynamodb/keys.ts";
import {
  type Item,
  isAsRead,
  type Key,
  readItem,
  readTogether,
  tableName,
} from "../dynamodb/table-client.ts";
import type { TransactItems } from "../dynamodb/transact.ts";
import { ApiError } from "../errors.ts";
import { isId } from "../ids.ts";
import { normalizeLabel } from "../normalize-label.ts";
import type { Lead, LeadUpdate } from "../schemas/lead-schemas.ts";
import { fieldsOf } from "../schemas/record.ts";

/** A name of one lead in its account, which is its external id or an address: the item that states which lead has it. */
export interface LeadName {
  readonly key: Key;
  /** What is stored as the id of the lead. */
  readonly leadId?: unknown;
  /** The lead, if it exists and has this name. */
  readonly item?: Item;
}

/** DynamoDB's limit of a sort key, in bytes. */
const maxKeyBytes = 1024;

/** The keys of a lead's names, the external id first and each key once. The fields may be of any type. */
export function nameKeys(account: string, lead: Item): Key[] {
  const { externalId, addresses } = lead;
  const channels = typeof addresses === "object" && addresses !== null ? Object.entries(addresses) : [];
  const keys = channels.flatMap(([channel, list]) =>
    [list]
      .flat()
      .flatMap((address) => (typeof address === "string" ? addressKey(account, channel, address) : [])),
  );
  if (typeof externalId === "string") keys.unshift(externalIdKey(account, externalId));
  const different = new Map(keys.map((key) => [`${key.pk} ${key.sk}`, key]));
  return [...different.values()].filter(({ sk }) => sk !== "" && Buffer.byteLength(sk) <= maxKeyBytes);
}

const areEqual = (a: Key, b: Key) => a.pk === b.pk && a.sk === b.sk;

/** Whether the item of a lead has the name with this key. */
export const hasName = (account: string, item: Item, key: Key) =>
  nameKeys(account, fieldsOf(item)).some((own) => areEqual(own, key));

/**
 * Reads which lead has a name, and the lead.
 *
 * @throws StaleReadError when another request gives the name to a lead, or takes it away
 */
export async function readName(
  account: string,
  key: Key,
  readLead = (id: string) => readItem(leadKey(account, id)),
): Promise<LeadName> {
  const stored = await readItem(key);
  if (!stored) return { key };
  const { leadId } = stored;
  if (!isId("lead", leadId)) return { key, leadId };
  const item = await readLead(leadId);
  if (item && hasName(account, item, key)) return { key, leadId, item };
  // Single reads can see only a part of the transaction that writes the name and the lead.
  const [name, lead] = await readTogether([key, leadKey(account, leadId)]);
  if (name && (name.leadId !== leadId || (lead && hasName(account, lead, key)))) throw new StaleReadError();
  return { key, leadId: name?.leadId };
}

/**
 * Finds the lead that a request means: by its id if it has one, or else by its external id, or else by its addresses.
 *
 * @returns the lead's item, if there is one, and all names that the request has
 * @throws ApiError `lead_exists` if the names are of different leads, or the lead has another external id
 * @throws StaleReadError when other requests change which leads have the names
 */
export async function findNamed(account: string, { id, externalId, addresses }: LeadUpdate) {
  const reads = new Map<string, Promise<Item | undefined>>();
  const readLead = (leadId: string) => {
    const read = reads.get(leadId) ?? readItem(leadKey(account, leadId));
    reads.set(leadId, read);
    return read;
  };
  const keys = nameKeys(account, { externalId, addresses: withAddresses({}, addresses) });
  const [byId, ...names] = await Promise.all([
    isId("lead", id) ? readLead(id) : undefined,
    ...keys.map((key) => readName(account, key, readLead)),
  ]);
  const item = id === undefined ? names.find((name) => name.item)?.item : byId;
  if (!item) return { names };
  const other = names.find((name) => name.item && name.item.id !== item.id);
  if (other) {
    await checkTogether(account, names, [String(item.id), String(other.leadId)]);
    const named = describeName(account, other);
    throw nameConflict(
      other.leadId,
      `The request names the lead ${item.id}, but the lead ${other.leadId} has ${named}.`,
    );
  }
  const { externalId: own } = fieldsOf(item);
  if (externalId !== undefined && own !== undefined && own !== externalId)
    throw nameConflict(item.id, `The lead ${item.id} has another externalId, which never changes.`);
  return { item, names };
}

/**
 * Checks that at one moment, all names were as they were read, and the leads existed. Only then is a refusal right.
 *
 * @throws StaleReadError otherwise
 */
export async function checkTogether(account: string, names: readonly LeadName[], ids: readonly string[]) {
  const keys = [...names.map(({ key }) => key), ...ids.map((id) => leadKey(account, id))];
  const items = await readTogether(keys);
  const isSame = names.every(({ leadId }, i) => items[i]?.leadId === leadId);
  if (!isSame || !items.slice(names.length).every(Boolean)) throw new StaleReadError();
}

/** The error for a new lead with a name that another lead has. */
export const nameTaken = (account: string, name: LeadName) =>
  nameConflict(
    name.leadId,
    `This account has a lead with ${describeName(account, name)}: ${name.leadId}. To change it, send ifExists=update.`,
  );

const nameConflict = (id: unknown, message: string) =>
  new ApiError("lead_exists", message, { id: String(id) });

/** Describes a name in words; an address is shown in the form in which it is compared. */
const describeName = (account: string, { key: { pk, sk } }: LeadName) =>
  pk === accountPartition("externalId", account) ? "this externalId" : `the address ${sk}`;

/** Adds addresses to those of a lead, each once per channel. The addresses of a channel that is null are removed. */
export function withAddresses(
  stored: Lead["addresses"] = {},
  changes: LeadUpdate["addresses"] = {},
): Lead["addresses"] {
  const channels = new Map(Object.entries(stored));
  for (const [name, more] of Object.entries(changes)) {
    const channel = normalizeLabel(name);
    const all = more === null ? [] : [...(channels.get(channel) ?? []), ...more];
    const compared = all.map(comparableAddress);
    const different = all.filter((_, i) => compared.indexOf(compared[i] ?? "") === i);
    channels.set(channel, different);
  }
  const filled = [...channels].filter(([, list]) => list.length > 0);
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}

/** The part of a transaction that gives a lead a name which no existing lead has. */
export const putName = ({ key, leadId: stored }: LeadName, leadId: string) => ({
  Put: { TableName: tableName, Item: { ...key, leadId }, ...isAsRead("leadId", stored) },
});

/**
 * The parts of a lead's transaction that give it new names, and delete the names that it no longer has.
 *
 * @param names the names of the request, as they were read
 */
export async function changeNames(
  account: string,
  id: string,
  before: Item,
  after: Item,
  names: readonly LeadName[],
): Promise<TransactItems> {
  const kept = nameKeys(account, after);
  const given = names.filter(({ item, key }) => item?.id !== id && kept.some((own) => areEqual(own, key)));
  const lost = nameKeys(account, before).filter((key) => !kept.some((own) => areEqual(own, key)));
  const read = await Promise.all(lost.map((key) => readItem(key)));
  const deleted = lost.filter((_, i) => read[i]?.leadId === id);
  return [
    ...given.map((name) => putName(name, id)),
    ...deleted.map((Key) => ({ Delete: { TableName: tableName, Key, ...isAsRead("leadId", id) } })),
  ];
}
