import { NumberValue } from "@aws-sdk/lib-dynamodb";
import {
  accountApiKeysPartition,
  indexes,
  labelPartition,
  labelTreeKey,
  leadConversationsPartition,
  leadEmailPartition,
  listPartition,
  readPartition,
  statusAndLabelPartition,
  statusPartition,
} from "../../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../../shared/ids.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { withFields } from "../../../support/with-fields.ts";

/** Whom planted items are of, and whom they name instead. */
interface Names {
  readonly account: string;
  readonly email: string;
  readonly lead: string;
  readonly conversation: string;
  readonly other: Readonly<Record<"account" | "lead" | "conversation" | "externalId", string>>;
}

/** What a text has that names another lead or account: it belongs to nobody else. */
export const secret = "SECRET";

const terminalCommands = "\u001b[2J\u009b31m\u007f\n\u202eko\u2028";

/** Values that no field has: none, those of other types, texts that are too long or run commands. `String` throws for the second one. */
const hostileValues = [
  ...[undefined, { toString: "x", valueOf: { id: "x" } }, new Set(["x"]), new Uint8Array([27, 91, 50, 74])],
  ...[NumberValue.from("9".repeat(38)), null, [["x"], { x: 1 }], true],
  ...["x".repeat(3000), terminalCommands],
];

/** Fields that also have the most that fits. More of them would make the test slow. */
const largest = ["name", "source", "message", "leadId", "conversationId", "ids", "used"];

/** Sort keys that are no ids: the longest one, and some that a terminal or a shell would run. */
const hostileKeys = ["ä".repeat(500), terminalCommands, "$(id)", "'; id", "lead_", "zzz"];

/** Attributes of keys, and those by which an API key is of its account. */
const fixed: readonly string[] = ["pk", "sk", ...Object.values(indexes), "accountId", "keyId"];

const typeOf = ({ pk, sk }: Item) => `${String(pk).split("#")[0]} ${/^(?:node#|label#)?/.exec(String(sk))}`;

/** Items under keys of their own, like those of the account but each with a field that is spoiled, under an odd key, or in the indexes of others. */
export function plantedItems(stored: readonly Item[], names: Names): (Item & Key)[] {
  const { account, email, lead, conversation, other } = names;
  const records: (Item & Key)[] = [];
  let made = 0;
  const another = (item: Item): Item & Key => {
    const sk = String(item.sk);
    const tree = readPartition(String(item.pk))?.itemType === "COUNT" && !sk.startsWith("label#");
    made += 1;
    if (tree) {
      const owner = {
        account,
        list: countedLists.lead,
        labelKey: labelPartition("lead", account, `${made}`),
      };
      records.push({ ...labelTreeKey("lead", account, owner.labelKey), labelKey: owner.labelKey });
      return { ...item, ...treeKey(owner, sk) };
    }
    const prefix = /^(?:lead|conv|msg)(?=_)/.exec(sk)?.[0] as "lead" | undefined;
    const id = prefix ? newId(prefix) : `${sk} ${made}`;
    const same = Object.entries(item).map(([name, value]) => [name, value === sk ? id : value]);
    const own = { externalId: `crm-${id}`, createdAt: prefix && createdAt(id) };
    const has = Object.entries(own).filter(([name]) => name in { ...item, ...Object(item.details) });
    return withFields(Object.fromEntries(same), Object.fromEntries(has));
  };
  const spoiled = (item: Item) =>
    Object.keys({ ...item, ...Object(item.details) })
      .filter((name) => !fixed.includes(name))
      .flatMap((name) =>
        [...hostileValues, ...(largest.includes(name) ? ["x".repeat(300_000)] : []), ...Object.values(other)]
          // DynamoDB stores no other type of the key of an index.
          .filter((value) => name !== "lastMessageAt" || typeof (value ?? "") === "string")
          .map((value) => {
            const isOfOther =
              ["leadId", "conversationId"].includes(name) && Object.values(other).includes(value as string);
            return withFields(another(item), {
              [name]: value,
              ...(isOfOther && "message" in item && { message: secret }),
            });
          }),
      );
  const indexKeys = [
    ...(["lead", "conversation"] as const).flatMap((type) => [
      ["byStatus", statusPartition(type, other.account, "new")],
      ["byLabel", labelPartition(type, other.account, "web")],
      ["byStatusAndLabel", statusAndLabelPartition(type, other.account, "new", "web")],
    ]),
    ["byParent", leadEmailPartition(other.account, email)],
    ["byParent", leadConversationsPartition(account, other.lead)],
    ["byParent", leadConversationsPartition(other.account, lead)],
    ["byParent", accountApiKeysPartition(account)],
    ["byParent", accountApiKeysPartition(other.account)],
  ] as const;
  // Of each type the one that names most of the lead and the conversation, and has the most fields.
  const score = (item: Item) =>
    100 * [lead, conversation].filter((id) => JSON.stringify(item).includes(id)).length +
    Object.keys({ ...item, ...Object(item.details) }).length;
  const ranked = stored.toSorted((a, b) => score(a) - score(b));
  const seeds = [...new Map(ranked.map((item) => [typeOf(item), item])).values()];
  const rows = seeds.filter(({ pk }) => /^(?:LEAD|CONVERSATION)#/.test(String(pk)));
  const root = { ...rootItem({ ...emptyRoot(1), version: 1, watermark: "~" }), filler: "x".repeat(300_000) };
  return [
    ...seeds.flatMap(spoiled),
    ...rows.flatMap((item) => indexKeys.map(([name, value]) => ({ ...another(item), [name]: value }))),
    ...seeds
      .filter(({ pk }) => /^(?:LEAD|CONVERSATION|MESSAGE|ACTIVE)#/.test(String(pk)))
      .flatMap((item) => hostileKeys.map((sk) => ({ ...another(item), sk }))),
    ...records,
    ...Object.values(countedLists).map((list) => ({ ...treeKey({ account, list }, "root"), ...root })),
    // Of an account that the API cannot have.
    ...rows.map((item) => ({ ...another(item), pk: listPartition("lead", terminalCommands) })),
    { pk: `COUNT#${encodeURIComponent("$(id)")}#LEAD`, ...root, sk: "root" },
  ];
}
