import { conversationItem, toConversation } from "../../../shared/domain/conversations.ts";
import { leadItem, toLead } from "../../../shared/domain/leads.ts";
import { indexes, readListPartition } from "../../../shared/dynamodb/keys.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { lead } from "../../../shared/schemas/lead-schemas.ts";
import type { Pace } from "../pace.ts";
import { buildUpdate, updateItem } from "./conditional-update.ts";

/** The records of the lists, and how the items of new ones are composed. */
const lists = {
  lead: { schema: lead, compose: (account: string, item: Item): Item => leadItem(account, toLead(item)) },
  conversation: {
    schema: conversation,
    compose: (account: string, item: Item): Item => conversationItem(account, toConversation(item)),
  },
};

/** The index keys that a row lacks. */
interface MissingKeys {
  readonly keys: Item;
  /** The row's record and these keys, as they were read; undefined stands for a missing attribute. */
  readonly read: Item;
}

/**
 * Compares the index keys of a row with those that it would have if it were created now.
 *
 * @returns undefined if it has them; "incomplete" if a field of its record is missing, so that it cannot have them
 */
export function findMissingKeys(row: Item): MissingKeys | "incomplete" | undefined {
  const list = readListPartition(String(row.pk));
  if (!list) return undefined;
  const { schema, compose } = lists[list.type];
  if (schema.required.some((name) => row[name] === undefined)) return "incomplete";
  const composed = compose(list.account, row);
  const missing = Object.values(indexes).filter(
    (name) => composed[name] !== undefined && composed[name] !== row[name],
  );
  if (missing.length === 0) return undefined;
  return {
    keys: pick(composed, missing),
    read: pick(row, [...Object.keys(schema.properties), ...missing]),
  };
}

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
