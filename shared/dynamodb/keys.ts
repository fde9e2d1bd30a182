import { createHash } from "node:crypto";

/**
 * The table's map: every primary key and index key is built here and nowhere else.
 *
 * A partition key begins with the item's type, then the account, so that `dynamodb:LeadingKeys` can restrict a role to
 * types of item. Parts are percent-encoded, so a `#` in a value cannot end a part: different lists of parts never give
 * the same key.
 */
const join = (...parts: string[]) => parts.map(encodeURIComponent).join("#");

/**
 * What the indexes of filters copy: the keys that a reader checks, and all of a lead or conversation that a message does not
 * change, so that messages write none of them. This cannot be changed later: a new field of a lead becomes a part of
 * `details`, and the key of a new index is not added. A lead's addresses stand beside `details`, so that a role may read them
 * alone. Its lists are spelled out, also below: a bundle that needs none of them would keep what is spread by a name.
 */
const copies = [
  ...["id", "status", "source", "leadId", "channel", "details", "addresses"],
  ...["byStatus", "byLabel", "byStatusAndLabel", "byParent"],
] as const;

/**
 * The secondary indexes: the attributes that are their keys, and what they copy. Those of filters sort by creation; a label is
 * a lead's source or a conversation's channel. The others sort an account's rows by a time that changes. `by-activity` sorts
 * leads by their last change and conversations by their last message, and has all that a page shows. `by-waiting` has the
 * conversations that wait for a reply, and copies nothing that a message changes: a waiting lead's second message does not
 * write it.
 */
export const indexes = {
  "by-status": { partition: "byStatus", sort: "sk", copies },
  "by-label": { partition: "byLabel", sort: "sk", copies },
  "by-status-and-label": { partition: "byStatusAndLabel", sort: "sk", copies },
  "by-parent": { partition: "byParent", sort: "sk", copies },
  "by-activity": {
    partition: "pk",
    sort: "activeAt",
    copies: [
      ...["id", "status", "source", "leadId", "channel", "details", "addresses"],
      ...["messageCount", "lastMessage", "lastInboundAt", "awaitingReplySince"],
    ],
  },
  "by-waiting": { partition: "pk", sort: "awaitingReplySince", copies: ["status", "leadId", "channel"] },
} as const;

export type IndexName = keyof typeof indexes;

/** The attributes that are the keys of an index, or without an index of the table. */
export const keysOf = (index: IndexName | undefined) =>
  index === undefined ? ({ partition: "pk", sort: "sk" } as const) : indexes[index];

/** The attributes that only indexes have as a key. A pure call, so that bundles leave it out if they do not use it. */
export const indexKeys = /* @__PURE__ */ Object.values(indexes).map(({ partition, sort }) =>
  sort === "sk" ? partition : sort,
);

/** The keys that a row has if its item has them, read from the table or an index of filters. */
export const keyAttributes = ["pk", "sk", "byStatus", "byLabel", "byStatusAndLabel", "byParent"] as const;

/** The attribute with the time after which DynamoDB deletes an item, in seconds since the epoch. */
export const expiryAttribute = "expiresAt";

/** The first part of every partition key, of the table and of its indexes. */
export const itemTypes = {
  account: "ACCOUNT",
  lead: "LEAD",
  conversation: "CONVERSATION",
  message: "MESSAGE",
  active: "ACTIVE",
  apiKey: "KEY",
  count: "COUNT",
  idempotency: "IDEMPOTENCY",
  rate: "RATE",
  leadImport: "IMPORT",
  erasedLead: "ERASED",
  externalId: "EXTERNAL",
  address: "ADDRESS",
  channel: "CHANNEL",
  sender: "SENDER",
  audit: "AUDIT",
} as const;

export type ItemType = keyof typeof itemTypes;

type Listed = "lead" | "conversation";

/**
 * The partition of an account's items of a type, or the prefix of the partitions that have some of them. With values, it is
 * a partition of an index: of a status (`by-status`), of a source or channel (`by-label`), of both (`by-status-and-label`),
 * or of a lead's conversations (`by-parent`). Without values, `by-parent` has the account's API keys.
 */
export const accountPartition = (type: ItemType, account: string, ...values: string[]) =>
  join(itemTypes[type], account, ...values);

/** Whether a value of the `by-label` index is a partition of an account's own list. */
export const isLabelPartition = (type: Listed, account: string, value: unknown): value is string =>
  typeof value === "string" && value.startsWith(`${accountPartition(type, account)}#`);

/**
 * A value of the `by-parent` index: the leads with an e-mail address, in any letter case. Valid addresses are ASCII, so
 * lower case is unambiguous.
 */
export const leadEmailPartition = (account: string, email: string) =>
  accountPartition("lead", account, email.toLowerCase());

const key = (sk: string, ...parts: string[]) => ({ pk: join(...parts), sk });

/** An account itself: since when it exists, its own rate limit, and since when it is frozen. */
export const accountKey = (account: string) => key("account", itemTypes.account, account);

/** The key of a row of a list. */
export const rowKey = (type: Listed, account: string, id: string) => key(id, itemTypes[type], account);

export const leadKey = (account: string, id: string) => rowKey("lead", account, id);

export const conversationKey = (account: string, id: string) => rowKey("conversation", account, id);

export const messageKey = (account: string, conversationId: string, id: string) =>
  key(id, itemTypes.message, account, conversationId);

/** The uniqueness lock of a lead on a channel, which names their one active conversation. */
export const activeConversationKey = (account: string, leadId: string, channel: string) =>
  key(channel, itemTypes.active, account, leadId);

export const apiKeyKey = (sha256: string, keyId: string) => key(keyId, itemTypes.apiKey, sha256);

/** The record of a request that an account sent to a route with an Idempotency-Key. */
export const idempotencyKey = (account: string, route: string, idempotencyKey: string) =>
  key(route, itemTypes.idempotency, account, idempotencyKey);

/** The used requests of an account in the rate limit's window that starts at a time, in seconds since the epoch. */
export const rateWindowKey = (account: string, start: number) => key(String(start), itemTypes.rate, account);

/** The long lists of an account that started in a second since the epoch. */
export const longListsKey = (account: string, second: number) =>
  key(`long#${second}`, itemTypes.rate, account);

/** The record of a row that an account has imported, by the SHA-256 of the row. */
export const leadImportKey = (account: string, sha256: string) => key(sha256, itemTypes.leadImport, account);

/** What is left of an erased lead: its id, so that no import stores it again. */
export const erasedLeadKey = (account: string, leadId: string) => key(leadId, itemTypes.erasedLead, account);

/** The item that states which lead of an account has an external id. It exists as long as the lead. */
export const externalIdKey = (account: string, externalId: string) =>
  key(externalId, itemTypes.externalId, account);

/** The item that states which lead of an account has an address on a channel. It exists as long as the lead has it. */
export const addressKey = (account: string, channel: string, address: string) =>
  key(`${channel}:${comparableAddress(address)}`, itemTypes.address, account);

/** Which sender an account's messages of a channel go through. */
export const channelKey = (account: string, channel: string) => key(channel, itemTypes.channel, account);

/** Which account has a sender of a channel: no two accounts have the same sender. */
export const senderKey = (channel: string, sender: string) => key(sender, itemTypes.sender, channel);

/**
 * The digits that people and WhatsApp sometimes write and sometimes omit in the same number: the ninth digit of mobile
 * numbers in Brazil, the 1 in Mexico and the 9 in Argentina.
 */
const optionalDigit = /(?<=^55\d\d)9(?=[6-9]\d{7}$)|(?<=^52)1(?=\d{10}$)|(?<=^54)9(?=\d{10}$)/;

/**
 * The form in which addresses are compared. A telephone number becomes its digits, without a 00 that stands for + and
 * without the optional digit. An address with an @ becomes lower case. Without + or 00, digits with dots or slashes may be a
 * handle, and digits after a minus the id of a group: these stay as they are.
 */
export function comparableAddress(address: string): string {
  // Pasted numbers may have other hyphens, or full-width digits.
  const plain = address.normalize("NFKC").replace(/\p{Pd}/gu, "-");
  const isNumber = /^(?:\(?(?:\+|00)[\d ()./-]*|[\d(][\d ()-]*)$/.test(plain) && /\d/.test(plain);
  if (!isNumber) return address.includes("@") ? address.toLowerCase() : address;
  const digits = plain.replace(/\D/g, "").replace(/^00(?=[1-9])/, "");
  return digits.replace(optionalDigit, "");
}

/**
 * A node of the tree that counts an account's leads or conversations, or those of one source or channel. A tree is one
 * partition. The partition of an index can be longer than a part of a key should be, so its SHA-256 is used instead.
 *
 * @param labelKey the partition of the source or channel in `by-label`
 */
export const countNodeKey = (type: Listed, account: string, node: string, labelKey?: string) =>
  key(
    node,
    itemTypes.count,
    account,
    itemTypes[type],
    ...(labelKey === undefined ? [] : [hashName(labelKey)]),
  );

/** How far the audit of all accounts' counts has come. */
export const auditKey = key("counts", itemTypes.audit, "");

/** The record that a source or channel has its own tree. It is stored beside the tree of the account's list. */
export const labelTreeKey = (type: Listed, account: string, labelKey: string) =>
  countNodeKey(type, account, `${labelTreePrefix}#${hashName(labelKey)}`);

/** The partition of the tree of a label, by the key of its record. */
export const labelTreePartition = ({ pk, sk }: ReturnType<typeof labelTreeKey>) =>
  `${pk}#${sk.slice(labelTreePrefix.length + 1)}`;

/** The prefix of the sort keys of the records of label trees. */
export const labelTreePrefix = "label";

/** A short name for a text of any length. */
export const hashName = (text: string) => createHash("sha256").update(text).digest("base64url");

/** The name of a node: its generation, its level and the start of its range. */
export const nodeName = (generation: number, level: number, start: string) =>
  `${nodePrefix}${generation}#${level}#${start}`;

/** The prefix of the names of all nodes except the root. */
export const nodePrefix = "node#";

/** Spells a partition key as this file does: its parts may be percent-encoded in another way. */
export function canonicalPartition(pk: string): string {
  try {
    return join(...pk.split("#").map(decodeURIComponent));
  } catch {
    return pk;
  }
}

/** The parts of a partition key of the table; undefined for one that this file did not build. */
export function readPartition(pk: string) {
  const [first, account, ...others] = pk.split("#");
  const type = (Object.keys(itemTypes) as ItemType[]).find((each) => itemTypes[each] === first);
  if (!type || account === undefined) return undefined;
  try {
    return { type, account: decodeURIComponent(account), others };
  } catch {
    // Not a key of this file.
    return undefined;
  }
}
