/**
 * The table's map: every primary key and index key is built here and nowhere else.
 *
 * A partition key begins with the item's type, then the account, so that a role can be held to types of item
 * by `dynamodb:LeadingKeys`. Parts are percent-encoded, so a `#` in a value can never end a part early: no two
 * different lists of parts give the same key.
 */
const join = (...parts: string[]) => parts.map(encodeURIComponent).join("#");

/** The secondary indexes, each with its partition key attribute; the sort key of all is the item's own `sk`. */
export const indexes = {
  "by-status": "byStatus",
  "by-origin": "byOrigin",
  "by-status-and-origin": "byStatusAndOrigin",
  "by-parent": "byParent",
} as const;

export type IndexName = keyof typeof indexes;

/** The first part of every partition key, of the table and of its indexes. */
export const itemTypes = {
  lead: "LEAD",
  conversation: "CONVERSATION",
  message: "MESSAGE",
  active: "ACTIVE",
  apiKey: "KEY",
  count: "COUNT",
  idempotency: "IDEMPOTENCY",
  rate: "RATE",
  leadImport: "IMPORT",
} as const;

type Listed = "lead" | "conversation";

/** Where an account's leads or conversations are, oldest first by their ids. */
export const listPartition = (type: Listed, account: string) => join(itemTypes[type], account);

/** A value of the `by-status` index. `type` keeps leads and conversations apart. */
export const statusPartition = (type: Listed, account: string, status: string) =>
  join(itemTypes[type], account, status);

/** A value of the `by-origin` index: a lead's source or a conversation's channel. */
export const sourceOrChannelPartition = (type: Listed, account: string, sourceOrChannel: string) =>
  join(itemTypes[type], account, sourceOrChannel);

/** A value of the `by-status-and-origin` index. */
export const statusAndSourceOrChannelPartition = (
  type: Listed,
  account: string,
  status: string,
  sourceOrChannel: string,
) => join(itemTypes[type], account, status, sourceOrChannel);

/** A value of the `by-parent` index: the conversations of a lead. */
export const leadConversationsPartition = (account: string, leadId: string) =>
  join(itemTypes.conversation, account, leadId);

/** A value of the `by-parent` index: the API keys of an account. */
export const accountApiKeysPartition = (account: string) => join(itemTypes.apiKey, account);

export const leadKey = (account: string, id: string) => ({ pk: listPartition("lead", account), sk: id });

export const conversationKey = (account: string, id: string) => ({
  pk: listPartition("conversation", account),
  sk: id,
});

export const messageKey = (account: string, conversationId: string, id: string) => ({
  pk: join(itemTypes.message, account, conversationId),
  sk: id,
});

/** The pointer to the one active conversation of a lead on a channel. */
export const activeConversationKey = (account: string, leadId: string, channel: string) => ({
  pk: join(itemTypes.active, account, leadId),
  sk: channel,
});

export const apiKeyKey = (sha256: string, keyId: string) => ({
  pk: join(itemTypes.apiKey, sha256),
  sk: keyId,
});

/** The record of a request that an account sent to a route with an Idempotency-Key. */
export const idempotencyKey = (account: string, route: string, key: string) => ({
  pk: join(itemTypes.idempotency, account, key),
  sk: route,
});

/** What an account has used of its rate limit in the window that starts then, in seconds since the epoch. */
export const rateWindowKey = (account: string, start: number) => ({
  pk: join(itemTypes.rate, account),
  sk: String(start),
});

/** When an account's import of a file began; the file is known by the SHA-256 of its bytes. */
export const leadImportKey = (account: string, sha256: string) => ({
  pk: join(itemTypes.leadImport, account),
  sk: sha256,
});

/** A node of the tree that counts an account's leads or conversations; all of a tree are in one partition. */
export const countNodeKey = (type: Listed, account: string, node: string) => ({
  pk: join(itemTypes.count, account, itemTypes[type]),
  sk: node,
});

/** The name of a node: the level and the start of its range in the tree of a generation. */
export const nodeName = (generation: number, level: number, start: string) =>
  `${nodePrefix}${generation}#${level}#${start}`;

/** What the names of all nodes but the root begin with. */
export const nodePrefix = "node#";

/** The generation of the tree that a node is of. */
export const parseGeneration = (name: string) => Number(name.slice(nodePrefix.length).split("#")[0]);

/** What a partition key of the table begins with, and its other parts; undefined for one that no code here has made. */
export function readPartition(
  pk: string,
): { itemType: string; account: string; others: readonly string[] } | undefined {
  const [itemType = "", account, ...others] = pk.split("#");
  if (account === undefined) return undefined;
  try {
    return { itemType, account: decodeURIComponent(account), others };
  } catch {
    // Somebody wrote an item by hand: no list reads it.
    return undefined;
  }
}

/** The list that a partition key of the table is of, and its account; undefined for every other partition. */
export function readListPartition(pk: string): { type: Listed; account: string } | undefined {
  const { itemType, account, others } = readPartition(pk) ?? {};
  const type = (["lead", "conversation"] as const).find((listed) => itemTypes[listed] === itemType);
  return type && account !== undefined && others?.length === 0 ? { type, account } : undefined;
}
