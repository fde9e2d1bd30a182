import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import {
  accountApiKeysPartition,
  accountLimitKey,
  activeConversationKey,
  apiKeyKey,
  erasedLeadKey,
  externalIdKey,
  hashName,
  idempotencyKey,
  indexes,
  labelPartition,
  labelTreeKey,
  leadConversationsPartition,
  leadEmailPartition,
  leadImportKey,
  listPartition,
  messageKey,
  nodeName,
  rateWindowKey,
  statusAndLabelPartition,
  statusPartition,
} from "../../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../../shared/ids.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { encodeEntries, rowEntry } from "../../../../shared/pages/tree/entry.ts";
import { emptyRoot, rootItem } from "../../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { withFields } from "../../../support/with-fields.ts";

/** Whom planted items are of, and whom they name instead. */
export interface Names {
  readonly account: string;
  readonly email: string;
  readonly lead: string;
  readonly conversation: string;
  readonly other: Readonly<Record<"account" | "lead" | "conversation" | "externalId", string>>;
}

/** An item that no function writes, though its role may allow it. */
export interface Planted {
  readonly type: string;
  readonly item: Item & Key;
}

/** What a text has that names another lead or account: it belongs to nobody else. */
export const secret = "SECRET";

/** Values of other types than those of any field. `String` throws for the first one. */
const wrongTypes = [
  { toString: "x", valueOf: { id: "x" } },
  new Set(["x"]),
  new Uint8Array([27, 91, 50, 74]),
  NumberValue.from("9".repeat(38)),
  null,
  [["x"], { x: 1 }],
  true,
];

const terminalCommands = "\u001b[2J\u009b31m\u007f\n\u202eko\u2028";

/** Some attributes of each type, which also have the most that fits. More of them would make the test slow. */
const largest = new Set([
  "name",
  "email",
  "source",
  "leadId",
  "message",
  "conversationId",
  "ids",
  "watermark",
  "used",
]);

const fixed: readonly string[] = ["pk", "sk", ...Object.values(indexes)];

let made = 0;

/** Items with each attribute of one spoiled: it is missing, of another type, too long, or names another. */
function spoil(
  type: string,
  { other }: Names,
  build: (n: string) => Item & Key,
  attributes = [...Object.keys(build("0")), ...Object.keys(Object(build("0").details))].filter(
    (name) => !fixed.includes(name),
  ),
): Planted[] {
  return attributes.flatMap((name, i) =>
    [
      undefined,
      wrongTypes[i % wrongTypes.length],
      wrongTypes[(i + 3) % wrongTypes.length],
      "x".repeat(largest.has(name) ? 300_000 : 3000),
      terminalCommands,
      ...Object.values(other),
    ]
      // DynamoDB stores no other type of the key of an index.
      .filter((value) => name !== "lastMessageAt" || value === undefined || typeof value === "string")
      .map((value) => {
        const item = withFields(build(String(made++)), { [name]: value });
        const isOfOther =
          ["leadId", "conversationId"].includes(name) && Object.values<unknown>(other).includes(value);
        return { type, item: isOfOther && "message" in item ? { ...item, message: secret } : item };
      }),
  );
}

const longestKey = "ä".repeat(500);

/** An item under keys that are no ids, the longest one and some that a terminal or a shell would run. */
const underOtherKeys = (type: string, build: () => Item & Key): Planted[] =>
  [longestKey, terminalCommands, "$(id)", "'; id", "lead_", "zzz"].map((sk) => ({
    type,
    item: { ...build(), sk },
  }));

/** Items of each type that are invalid, under odd keys, or in the indexes of others. */
export function plantedItems(names: Names): Planted[] {
  const { account, email, lead: leadId, conversation: conversationId, other } = names;
  const time = "2026-01-01T00:00:00.000Z";
  const lead = () => {
    const id = newId("lead");
    const fields = { id, name: "Planted", email, score: 0, status: "new" as const, source: "web", tags: [] };
    const others = { externalId: `crm-${id}`, metadata: { plan: "pro" }, createdAt: createdAt(id) };
    return leadItem(account, { ...fields, ...others });
  };
  const conversation = () => {
    const fields = { id: newId("conv"), leadId, channel: "sms", status: "closed", messageCount: 1 };
    return conversationItem(account, { ...fields, lastMessageAt: time });
  };
  const message = () => {
    const id = newId("msg");
    const fields = { id, conversationId, leadId, channel: "whatsapp", message: "Planted" };
    return { ...messageKey(account, conversationId, id), ...fields, createdAt: createdAt(id) };
  };
  const lock = (n: string) => ({ ...activeConversationKey(account, leadId, n), conversationId });
  const idempotencyRecord = (n: string) => ({
    ...idempotencyKey(account, "create-lead", n),
    ids: { id: leadId },
    expiresAt: 4_000_000_000,
  });
  const inIndexes = (type: "lead" | "conversation", build: () => Item & Key): Planted[] =>
    (
      [
        ["byStatus", statusPartition(type, other.account, "new")],
        ["byLabel", labelPartition(type, other.account, "web")],
        ["byStatusAndLabel", statusAndLabelPartition(type, other.account, "new", "web")],
        ["byParent", leadEmailPartition(other.account, email)],
        ["byParent", leadConversationsPartition(account, other.lead)],
        ["byParent", leadConversationsPartition(other.account, leadId)],
        ["byParent", accountApiKeysPartition(account)],
        ["byParent", accountApiKeysPartition(other.account)],
      ] as const
    ).map(([attribute, value]) => ({ type, item: { ...build(), [attribute]: value } }));
  const labelTree = (n: string) => {
    const labelKey = labelPartition("lead", account, n);
    return {
      owner: { account, list: countedLists.lead, labelKey },
      record: { ...labelTreeKey("lead", account, labelKey), labelKey },
    };
  };
  const entries = [rowEntry("lead_0", 0)];
  const root = rootItem({ ...emptyRoot(1), entries, bufferStart: "lead_1", watermark: "lead_1" });
  const records: Planted[] = [];
  const ofTree = (key: string, fields: Item) => (n: string) => {
    const { owner, record } = labelTree(`${key} ${n}`);
    records.push({ type: "count", item: record });
    return { ...treeKey(owner, key), ...fields };
  };
  // An account that the API cannot have.
  const { pk: _, ...attributes } = lead();
  const nobodys = { ...attributes, pk: listPartition("lead", terminalCommands) };
  return [
    { type: "lead", item: nobodys },
    { type: "count", item: { pk: `COUNT#${encodeURIComponent("$(id)")}#LEAD`, ...root, sk: "root" } },
    ...[...spoil("lead", names, lead), ...inIndexes("lead", lead), ...underOtherKeys("lead", lead)],
    ...[...spoil("conversation", names, conversation), ...inIndexes("conversation", conversation)],
    ...underOtherKeys("conversation", conversation),
    ...[...spoil("message", names, message), ...underOtherKeys("message", message)],
    ...[...spoil("active", names, lock), ...underOtherKeys("active", () => lock("x"))],
    ...spoil("idempotency", names, idempotencyRecord),
    ...spoil("externalId", names, (n) => ({ ...externalIdKey(account, n), leadId })),
    ...spoil("count", names, ofTree("root", root)),
    ...spoil("count", names, ofTree(nodeName(1, 1, "lead_0"), { entries: encodeEntries(entries) })),
    ...spoil("count", names, (n) => labelTree(`record ${n}`).record),
    ...records,
    ...(["lead", "conversation"] as const).map((type) => ({
      type: "count",
      item: {
        ...treeKey({ account, list: countedLists[type] }, "root"),
        ...root,
        version: 1,
        watermark: "~",
        filler: "x".repeat(300_000),
      },
    })),
    ...spoil("rate", names, (n) => ({
      ...rateWindowKey(account, Number(n)),
      used: 1,
      expiresAt: 4_000_000_000,
    })),
    ...spoil("limit", names, (n) => ({ ...accountLimitKey(account), sk: n, requests: 1 })),
    ...spoil("leadImport", names, (n) => ({ ...leadImportKey(account, hashName(n)), startedAt: time })),
    ...spoil("erasedLead", names, () => {
      const id = newId("lead");
      return { ...erasedLeadKey(account, id), id: newId("erasure"), leadId: id };
    }),
    ...spoil(
      "apiKey",
      names,
      (n) => ({
        ...{ ...apiKeyKey(hashName(n), n), byParent: accountApiKeysPartition(account) },
        ...{ keyId: n, accountId: account, access: "full", label: "Planted" },
      }),
      ["access", "label"],
    ),
  ];
}
