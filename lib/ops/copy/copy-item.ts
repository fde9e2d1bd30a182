import { isDeepStrictEqual } from "node:util";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import {
  type Item,
  type Key,
  readItem,
  table,
  tableName,
  writtenValues,
} from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, orStaleRead, updateItem } from "../../../shared/dynamodb/updates.ts";
import { asChange } from "../table/write-items.ts";
import type { Storing } from "./store-rows.ts";

/** What has become of an item; `left` if it does not fit what is stored. */
export type Outcome = "stored" | "present" | "replaced" | "left";

/** What tells how an item was written: it is of its own table. */
const marks = ["imported", "changed", "changeId"];

/** What the messages of a conversation decide. */
const counters = ["messageCount", "lastMessageAt"];

/** The fields that no change of an item changes. */
const fixed = ["id", "createdAt", "leadId", "channel", "conversationId", "message", "metadata"];

/** Stores an item that is absent, and leaves one that exists as it is. */
export async function storeOnce(storing: Storing, item: Item & Key): Promise<"stored" | "present"> {
  const outcome = await storing.pace.retry(async () => {
    const stored = await readItem({ pk: item.pk, sk: item.sk });
    if (stored) return "present";
    await write(storing, putAbsent(storing, item));
    return "stored";
  });
  await spend(storing, item, outcome);
  return outcome;
}

/** An item that is stored as it is in another table. */
export interface CopyingItem extends Storing {
  /** Whether the fields of items that exist become those of the other table. */
  readonly replace: boolean;
  /** Called with an item that is left, and why. */
  readonly leave: (item: Item, reason: string) => void;
}

/** What an item is instead, given what is stored, and what is written together with it; or why it is left. */
export type Adapt = (
  stored: Item | undefined,
) => Promise<{ readonly item?: Item & Key; readonly others?: TransactItems } | { readonly left: string }>;

/**
 * Writes an item that is absent, or its fields that differ, on the condition that the stored item is as it was read. Leaves
 * it if the stored one has another value in a field that never changes.
 */
export async function copyItem(
  copying: CopyingItem,
  wanted: Item & Key,
  adapt: Adapt = async () => ({}),
): Promise<Outcome> {
  const { replace, dryRun, pace, leave } = copying;
  const outcome = await pace.retry(async () => {
    const stored = await readItem({ pk: wanted.pk, sk: wanted.sk });
    const field = stored && differences(stored, wanted).find((name) => fixed.includes(name));
    const adapted =
      field === undefined ? await adapt(stored) : { left: `its ${field} is not the stored one` };
    if ("left" in adapted) {
      leave(wanted, adapted.left);
      return "left";
    }
    const { item = wanted, others = [] } = adapted;
    if (!stored) {
      await write(copying, putAbsent(copying, item), others);
      return "stored";
    }
    const names = differences(stored, item);
    if (replace && names.length > 0) {
      const changes = asChange(stored, Object.fromEntries(names.map((name) => [name, item[name]])));
      await write(copying, update(stored, changes), others);
      return "replaced";
    }
    if (others.length > 0 && stored.status === item.status && !dryRun) await transact(others);
    return "present";
  });
  await spend(copying, wanted, outcome);
  return outcome;
}

/** The attributes in which a stored item differs from the wanted one, also those that it should not have. */
export function differences(stored: Item, wanted: Item): readonly string[] {
  const kept = counters.filter((name) => wanted[name] !== undefined && stored[name] !== undefined);
  return Object.keys({ ...stored, ...wanted }).filter(
    (name) => ![...marks, ...kept].includes(name) && !isSame(stored[name], wanted[name]),
  );
}

const isSame = (stored: unknown, wanted: unknown) =>
  isDeepStrictEqual(toAttribute(stored), toAttribute(wanted));

const toAttribute = (value: unknown) => marshall({ value }, writtenValues).value;

export const putAbsent = ({ runId }: Storing, item: Item) => ({
  Put: {
    TableName: tableName,
    Item: { ...item, imported: runId },
    ConditionExpression: "attribute_not_exists(pk)",
  },
});

/** Changes attributes, if the item has the others as they were read, but for those that each message changes. */
function update(stored: Item, changes: Item) {
  const { pk, sk, ...read } = stored;
  const added = Object.fromEntries(Object.keys(changes).map((name) => [name, undefined]));
  const unchanged = Object.entries({ ...added, ...read }).filter(
    ([name]) => name in changes || !counters.includes(name),
  );
  return {
    Update: buildUpdate({ pk: String(pk), sk: String(sk) }, changes, Object.fromEntries(unchanged)),
  };
}

/** @throws StaleReadError when the item is not as it was read */
async function write(
  { dryRun }: Storing,
  item: ReturnType<typeof putAbsent> | ReturnType<typeof update>,
  others: TransactItems = [],
): Promise<void> {
  if (dryRun) return;
  if (others.length > 0) await transact([item, ...others], true);
  else if ("Update" in item) await updateItem(item.Update);
  else await orStaleRead(table.send(new PutCommand(item.Put)));
}

/** Spends the units of a read, or about those that an item writes to its partition key: those of indexes have their own. */
export function spend({ dryRun, pace }: Storing, item: Item, outcome: unknown): Promise<void> {
  const isWritten = !dryRun && ["stored", "replaced", "updated"].some((written) => written === outcome);
  return pace.spend(isWritten ? readsPerWrite * Math.ceil(JSON.stringify(item).length / 1024) : 1);
}
