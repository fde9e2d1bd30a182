import type { Retry } from "../../dynamodb/retry.ts";
import { type CountedRow, keyAt, latest, type SublistOwner } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { readRows } from "../tree/rows.ts";
import { indexedAge, indexedBefore, type Limits } from "../tree/tree-limits.ts";
import { readRoot } from "../tree/tree-store.ts";
import { readStates } from "./row-states.ts";

/** Rows of a sublist's tail that a commit can count. */
export interface Uncounted {
  /** In order, as they are in the table. */
  readonly rows: readonly CountedRow[];
  /** Where the counted rows end then. */
  readonly watermark: string;
  /** Whether more rows can be counted. */
  readonly more: boolean;
}

/** How the tail is read. */
interface TailReading {
  /** The time after the root was read, in milliseconds since the epoch. */
  readonly clock: number;
  /** Whether to count few rows, too. */
  readonly few: boolean;
  /** Whether back-dated rows have just come to the tail. */
  readonly backdated: boolean;
  /** Whether rows were changed lately, so that the index may have them as they were. */
  readonly changed: boolean;
  readonly limits: Limits;
  readonly retry: Retry;
}

/** Of how long a time all rows of a list are read at most, in milliseconds. */
const longestSpan = 10 * 60_000;

/**
 * Reads the rows of a sublist's tail that can be counted. Its index has all rows that were written before the last seconds,
 * and the whole list has the younger ones, which are read if there are many.
 *
 * While back-dated rows are written, the index may not have them: then all rows are read from the whole list, unless that
 * is too much.
 *
 * @returns undefined if counting does not pay
 */
export async function readUncounted(
  owner: SublistOwner,
  root: Root,
  reading: TailReading,
): Promise<Uncounted | undefined> {
  const { clock, few, changed, limits, retry } = reading;
  const { list } = owner;
  const { watermark: start } = root;
  const settled = latest(start, keyAt(list, clock - indexedAge(limits)));
  const horizon = latest(start, keyAt(list, clock - limits.allowedLateness));
  const maxRows = limits.sublistCommitRows;
  const tail = await readRows(owner, { start, end: horizon }, { maxRows, oneCall: true, retry });
  if (reading.backdated || (await mayMissRows(owner, root, reading))) {
    const isNear = start >= keyAt(list, clock - longestSpan);
    const pays = isNear && tail.rows.length > limits.youngTail;
    return pays ? readFromList(owner, { start, end: horizon }, reading) : undefined;
  }
  const old = tail.rows.filter(({ sk }) => sk < settled);
  const youngPays = tail.rows.length - old.length > limits.youngTail;
  const ended = tail.next === undefined || tail.next >= settled;
  if (!few && ended && old.length < limits.sublistTail && !youngPays) return undefined;
  const rows = changed ? await readAgain(owner, old, retry) : old;
  if (!ended) return { rows, watermark: tail.next, more: true };
  if (!youngPays) return { rows, watermark: settled, more: false };
  const young = await readFromList(owner, { start: settled, end: horizon }, reading);
  return { ...young, rows: [...rows, ...young.rows] };
}

async function readAgain(owner: SublistOwner, rows: readonly CountedRow[], retry: Retry) {
  const keys = rows.map(({ sk }) => sk);
  const states = await readStates(owner, keys, retry);
  return keys.flatMap((sk) => states.get(sk) ?? []);
}

/** Whether back-dated rows were written so lately that the index may miss them. */
async function mayMissRows(
  { account, list }: SublistOwner,
  { createdAt = 0, backdatedAt = 0 }: Root,
  { clock, limits, retry }: TailReading,
): Promise<boolean> {
  const since = indexedBefore(clock, limits);
  if (backdatedAt >= since) return true;
  if (createdAt < since) return false;
  // Before it had a tree, only the list recorded them. That is read after the tree's root: the commit for a row changes both.
  const whole = await retry(() => readRoot({ account, list }));
  return (whole?.backdatedAt ?? 0) >= since;
}

/** Reads rows of a sublist from the whole list, consistently. */
async function readFromList(
  { account, list, sublist }: SublistOwner,
  range: { readonly start: string; readonly end: string },
  { limits, retry }: TailReading,
): Promise<Uncounted> {
  const reading = { maxRows: limits.sublistCommitRows, oneCall: true, retry, only: sublist };
  const { rows, next } = await readRows({ account, list }, range, reading);
  return { rows, watermark: next ?? range.end, more: next !== undefined };
}
