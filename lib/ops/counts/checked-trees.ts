import { sourceOrChannelPartition, sublistKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { sublistRecords } from "../../../shared/pages/audit/read-list.ts";
import { inParallel } from "../../../shared/pages/maintain/in-parallel.ts";
import type { CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { decodeEntries } from "../../../shared/pages/tree/entry.ts";
import { type Root, type rootItem, toRoot } from "../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { opsCommand, type TableOptions } from "../common/options.ts";
import { type Note, Unreadable } from "../common/unreadable.ts";
import { isKeyPart } from "../erasure/lead-items.ts";
import { describeSublist } from "./all-owners.ts";

/** Reads the root of a tree. @returns nothing, after a note, if it is not what a maintainer writes */
export async function readCheckedRoot(
  owner: CountedOwner,
  pace: Pace,
  note: Note,
): Promise<Root | undefined> {
  const item = await pace.retry(() => readItem(treeKey(owner, "root")));
  await pace.spend(1);
  if (!item) return undefined;
  const wrong = Object.entries(attributes).find(([name, isValid]) => !isValid(item[name]))?.[0];
  if (wrong === undefined) return toRoot(item as ReturnType<typeof rootItem>);
  note(item, `its ${wrong} is not that of the root of a tree`);
  return undefined;
}

const isNumber = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether a value fits into a condition on sort keys. */
const isSortKey = (value: unknown) => typeof value === "string" && Buffer.byteLength(value) <= 1024;

const areEntries = (value: unknown) => decodeEntries(value) !== undefined;

const orAbsent = (isValid: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || isValid(value);

const attributes: { readonly [Name in keyof Root]-?: (value: unknown) => boolean } = {
  version: isNumber,
  generation: isNumber,
  level: isNumber,
  entries: areEntries,
  last: areEntries,
  lastStart: isSortKey,
  watermark: isSortKey,
  fed: orAbsent(isSortKey),
  unfed: orAbsent(isNumber),
  lookAt: orAbsent(isNumber),
  filling: orAbsent(isSortKey),
  changedAt: orAbsent(isNumber),
  expiresAt: orAbsent(isNumber),
};

/** Reads the sublists of a list that have trees. @param note called with records that no maintainer writes */
export async function readCheckedSublists(
  list: CountedOwner,
  pace: Pace,
  note: Note,
): Promise<SublistOwner[]> {
  const records = await queryAll(sublistRecords(list), pace);
  return records.flatMap((record) => {
    if (isRecordOf(list, record)) return { ...list, origin: record.origin };
    note(record, "its origin is not that of its key");
    return [];
  });
}

function isRecordOf({ account, list }: CountedOwner, record: Item): record is Item & { origin: string } {
  const { sk, origin } = record;
  if (typeof origin !== "string" || sublistKey(list.type, account, origin).sk !== sk) return false;
  const name = Object.values(describeSublist({ account, list, origin }))[0];
  return isKeyPart(name) && origin === sourceOrChannelPartition(list.type, account, name);
}

/** Reads the roots of a list and of its sublists. @returns whether a command can read these trees */
export async function areReadable(list: CountedOwner, pace: Pace, { note }: Unreadable): Promise<boolean> {
  const found = new Unreadable();
  const owners = [list, ...(await readCheckedSublists(list, pace, found.note))];
  await inParallel(owners, (owner) => readCheckedRoot(owner, pace, found.note));
  for (const item of found.values()) note(item, item.reason);
  return found.size === 0;
}

/** What to do about them. */
export const repairHint = (options: TableOptions, account: string) =>
  `Delete them in the table, then run ${opsCommand(options, `counts verify --repair --account ${account}`)}`;
