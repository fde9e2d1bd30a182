import { conversationItem, toConversation } from "../../../shared/domain/conversations.ts";
import { leadItem, toLead } from "../../../shared/domain/leads.ts";
import { indexes, readListPartition } from "../../../shared/dynamodb/keys.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { lead } from "../../../shared/schemas/lead-schemas.ts";
import type { Pace } from "../pace.ts";
import { buildUpdate, updateItem } from "./conditional-update.ts";

/** How values of the types of the schemas are read from the table. */
const isOfType = {
  string: (value: unknown) => typeof value === "string",
  integer: (value: unknown) => typeof value === "number",
  array: (value: unknown) => Array.isArray(value),
};

interface List {
  readonly schema: {
    readonly properties: Readonly<Record<string, { readonly type: keyof typeof isOfType }>>;
    readonly required: readonly string[];
  };
  /** Composes the item of a new record. */
  readonly compose: (account: string, item: Item) => Item;
}

const lists: Readonly<Record<"lead" | "conversation", List>> = {
  lead: { schema: lead, compose: (account, item) => leadItem(account, toLead(item)) },
  conversation: {
    schema: conversation,
    compose: (account, item) => conversationItem(account, toConversation(item)),
  },
};

/** The longest partition key of an index, in bytes. */
const longestKey = 2048;

/** The index keys that a row lacks. */
interface MissingKeys {
  readonly keys: Item;
  /** The record's strings and these keys, as they were read; undefined stands for a missing attribute. */
  readonly read: Item;
}

/**
 * Compares the index keys of a row with those that it would have if it were created now.
 *
 * @returns undefined if it has them; "incomplete" if it cannot have them, because a field of its record is missing or of
 *   another type, or a key would be too long
 */
export function findMissingKeys(row: Item): MissingKeys | "incomplete" | undefined {
  const list = readListPartition(String(row.pk));
  if (!list) return undefined;
  const { schema, compose } = lists[list.type];
  if (!isComplete(row, schema)) return "incomplete";
  const composed = compose(list.account, row);
  const missing = Object.values(indexes).filter(
    (name) => composed[name] !== undefined && composed[name] !== row[name],
  );
  if (missing.length === 0) return undefined;
  if (missing.some((name) => Buffer.byteLength(String(composed[name])) > longestKey)) return "incomplete";
  // Index keys are made of strings. A number is left out: one with more digits than JavaScript's would never be equal.
  const strings = Object.entries(schema.properties).filter(([, { type }]) => type === "string");
  return {
    keys: pick(composed, missing),
    read: pick(row, [...strings.map(([name]) => name), ...missing]),
  };
}

/** Whether the fields and the index keys of a row have their types. */
const isComplete = (row: Item, { properties, required }: List["schema"]) =>
  required.every((name) => row[name] !== undefined) &&
  Object.entries(properties).every(
    ([name, { type }]) => row[name] === undefined || isOfType[type](row[name]),
  ) &&
  Object.values(indexes).every((name) => row[name] === undefined || isOfType.string(row[name]));

const pick = (item: Item, names: readonly string[]): Item =>
  Object.fromEntries(names.map((name) => [name, item[name]]));

/** Gives a row the index keys that it lacks, unless it is deleted. A row that has changed since is read again. */
export async function addMissingKeys(row: Item, pace: Pace): Promise<void> {
  const key = { pk: String(row.pk), sk: String(row.sk) };
  let known: Item | undefined = row;
  await pace.retry(async () => {
    const current = known ?? (await readItem(key));
    known = undefined;
    const missing = current && findMissingKeys(current);
    if (typeof missing === "object") await updateItem(buildUpdate(key, missing.keys, missing.read));
  });
}
