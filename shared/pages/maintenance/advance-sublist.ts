import { sublistKey } from "../../dynamodb/keys.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { maxBatchKeys, tableName } from "../../dynamodb/table-client.ts";
import { type CountedRow, keyAt, type SublistOwner } from "../tree/counted-list.ts";
import { emptyRoot, type Root } from "../tree/root.ts";
import { readRows } from "../tree/rows.ts";
import { indexedAge, indexedBefore, type Limits } from "../tree/tree-limits.ts";
import { commit, readRoot } from "../tree/tree-store.ts";
import { readStates } from "./row-states.ts";
import { type RowEdit, SublistEdit } from "./sublist-edit.ts";
import { readUncounted } from "./uncounted-rows.ts";

/** A row of a sublist that was changed, deleted or back-dated. */
export interface ChangedRow {
  readonly key: string;
  /** Whether it is new in the sublist, in which it has an earlier time. */
  readonly backdated: boolean;
}

/** What there is to do for a sublist. */
export interface SublistWork {
  readonly changed: readonly ChangedRow[];
  /** Whether to count its tail if that pays, and to make a tree for it if it is long. */
  readonly look: boolean;
}

/** What remains to do after a commit. */
export interface SublistProgress {
  readonly rest: readonly ChangedRow[];
  readonly more: boolean;
}

/** One commit. @throws TreeChangedError when another commit came first */
export async function advanceSublist(
  owner: SublistOwner,
  { changed, look }: SublistWork,
  means: Means,
): Promise<SublistProgress> {
  const { limits, retry } = means;
  const root = await retry(() => readRoot(owner));
  if (!root && !(look && (await isLong(owner, means)))) return done;
  // Not earlier: the times in a root must not be before those of the commit that it replaces.
  const clock = Date.now();
  if (root?.createdAt === undefined) {
    await (root ? startTree(owner, root, clock, retry) : createTree(owner, clock, retry));
    return { rest: changed, more: true };
  }
  const inside = changed.filter(({ key }) => key < root.watermark);
  const outside = changed.filter(({ key }) => key >= root.watermark);
  const backdated = outside.some((row) => row.backdated);
  // Lists remember rows of the tail that the index has had for long, until the watermark passes them.
  const indexed = keyAt(owner.list, clock - indexedAge(limits));
  const few = root.overdue === true || outside.some(({ key }) => key < indexed);
  const changedBefore = (root.changedAt ?? 0) < indexedBefore(clock, limits);
  const reading = { clock, few, changed: outside.length > 0 || !changedBefore, backdated, ...means };
  const tail = look || few ? await readUncounted(owner, root, reading) : undefined;
  if (changed.length === 0 && !tail) return done;
  const edit = new SublistEdit(owner, root, means);
  const rest = await setChanged(edit, inside, owner, means);
  const uncounted = rest.length === 0 && tail ? await setWhileFits(edit, tail.rows.map(toEdit), means) : [];
  const end = rest.length === 0 ? tail?.watermark : undefined;
  const more = rest.length > 0 || uncounted.length > 0 || tail?.more === true;
  await edit.commit({
    watermark: uncounted[0]?.sk ?? end ?? root.watermark,
    changedAt: outside.length > 0 ? clock : root.changedAt,
    backdatedAt: backdated ? clock : root.backdatedAt,
    overdue: few && (more || !tail),
  });
  return { rest, more };
}

/**
 * The most changed rows that are set before those that follow them in the stream: a batch that is not finished in time
 * begins again at its first row that is not set.
 */
const changedAtOnce = 1000;

/** Reads changed rows and sets them, in the order of their keys. @returns those that the commit has no room for */
async function setChanged(
  edit: SublistEdit,
  changed: readonly ChangedRow[],
  owner: SublistOwner,
  means: Means,
): Promise<readonly ChangedRow[]> {
  let rest = changed.slice(0, changedAtOnce).sort((a, b) => (a.key < b.key ? -1 : 1));
  const others = changed.slice(changedAtOnce);
  while (rest.length > 0) {
    const some = rest.slice(0, maxBatchKeys);
    const keys = some.map(({ key }) => key);
    const states = await readStates(owner, keys, means.retry);
    const edits = keys.map((sk) => ({ sk, row: states.get(sk) }));
    const left = await setWhileFits(edit, edits, means);
    rest = rest.slice(some.length - left.length);
    if (left.length > 0) break;
  }
  return [...rest, ...others];
}

/** Sets rows while the commit has room. @returns the others */
async function setWhileFits(
  edit: SublistEdit,
  edits: readonly RowEdit[],
  { limits }: Means,
): Promise<readonly RowEdit[]> {
  // To compute the size costs far more than to set a row: so only when the rows since may have used up the room.
  let room = 0;
  for (const [index, row] of edits.entries()) {
    if (room <= 0) {
      room = Math.floor((limits.transactionNodes - edit.size) / edit.sizeOfRow);
      if (room <= 0 && !edit.isEmpty) return edits.slice(index);
    }
    await edit.set(row);
    room--;
  }
  return [];
}

const toEdit = (row: CountedRow): RowEdit => ({ sk: row.sk, row });

/**
 * Whether a sublist has so many rows that a tree of its own pays. The index may still list all rows of an account that was
 * just erased, so its first row is read from the table, too.
 */
async function isLong(owner: SublistOwner, { limits, retry }: Means): Promise<boolean> {
  const { rows, next } = await readRows(owner, { start: "" }, { maxRows: limits.sublistRows, retry });
  if (next === undefined) return false;
  const first = rows.slice(0, 1).map(({ sk }) => sk);
  return (await readStates(owner, first, retry)).size > 0;
}

/** Writes an empty tree: from now on, who changes a row changes its version. */
async function createTree(owner: SublistOwner, clock: number, retry: Retry): Promise<void> {
  const { account, list, sublist } = owner;
  const Item = { ...sublistKey(list.type, account, sublist), ...sublist };
  const root = { ...emptyRoot(clock), overdue: true };
  await retry(() => commit(owner, "root", root, [], [{ Put: { TableName: tableName, Item } }]));
}

/**
 * Notes a time when the tree existed: changes that nobody noted in it came before. A clock that was read before the tree was
 * written could be earlier, for the write can take long. Its rows are counted by the next commits.
 */
const startTree = (owner: SublistOwner, root: Root, clock: number, retry: Retry) =>
  retry(() => commit(owner, "root", { ...root, createdAt: clock, changedAt: clock }, []));

export interface Means {
  readonly limits: Limits;
  readonly retry: Retry;
}

const done: SublistProgress = { rest: [], more: false };
