import { decodeTime } from "ulid";
import { type Attempt, aboveRows, findKey, findRow, type KeyPlace } from "./find-row.ts";
import type { CountedRows, ListStart } from "./list-start.ts";
import type { PageRequest } from "./page.ts";
import { type Segment, walk } from "./range.ts";
import { type CountedList, latest } from "./tree/counted-list.ts";
import { isWithin, type Window } from "./window.ts";

/**
 * The part of a list's start that lies in its window. If the window ends before the watermark, it has no tail. The ranks of
 * its ends are its total; for each, a part of a leaf is read, or a node of rows of a sublist.
 *
 * @param request of the page: what it needs is read at the same time
 * @param first the first page of the window, if it has been read
 * @returns undefined when the tree has changed
 */
export async function narrowStart(
  attempt: Attempt,
  start: ListStart,
  { page, limit }: PageRequest,
  first: Segment | undefined,
): Promise<ListStart | undefined> {
  const { window = {} } = attempt;
  const { from = "", before } = window;
  if (from === "" && before === undefined) return start;
  const newest = newestWithin(start.newest, window);
  if (newest.done) return allRead(newest);
  const { counted } = start;
  const isCut = before !== undefined && before < start.watermark;
  const tail = start.tail.filter(isWithin(window));
  const watermark = isCut ? before : latest(start.watermark, from);
  if (!counted || from >= watermark)
    return { newest, tail, watermark, counted: undefined, total: tail.length };
  const lowest = aboveRows(attempt, counted.root);
  const [begin, end] = await Promise.all([
    from === "" ? oldest : findKey(attempt, counted, from, lowest),
    isCut ? findKey(attempt, counted, before, lowest) : newestPlace(watermark, counted.rows),
  ]);
  if (!begin || !end) return undefined;
  const offset = (page - 1) * limit;
  const middle = Math.floor((end.rank + end.endRank) / 2);
  const [skipped, rows, firstPage] = await Promise.all([
    readRank(attempt, counted, begin, from),
    readRank(attempt, counted, end, watermark),
    isCut && page === 1 ? (first ?? readNewest(attempt, limit)) : newest,
    page > 1 ? findRow(attempt, counted, Math.max(0, middle - 1 - offset)) : undefined,
  ]);
  if (skipped === undefined || rows === undefined) return undefined;
  if (isCut && firstPage.done) return allRead(firstPage);
  const total = tail.length + Math.max(0, rows - skipped);
  return { newest: firstPage, tail, watermark, counted: { ...counted, rows }, total };
}

/** Reads the newest rows of a window. */
export const readNewest = ({ range, call, window }: Attempt, maxRows: number): Promise<Segment> =>
  walk(range, { before: window?.before, downTo: window?.from, maxRows }, call);

/** The newest rows of a list that lie in a window. */
export function newestWithin({ items, done }: Segment, window: Window): Segment {
  const within = isWithin(window);
  const isPast = window.from !== undefined && String(items.at(-1)?.sk ?? "~") < window.from;
  return { items: items.filter(({ sk }) => within(String(sk))), done: done || isPast };
}

/** The start of a list of which all rows have been read. */
function allRead({ items }: Segment): ListStart {
  const tail = items.map(({ sk }) => String(sk));
  return { newest: { items, done: true }, tail, watermark: "", counted: undefined, total: tail.length };
}

const oldest: KeyPlace = { start: "", end: "", rank: 0, endRank: 0 };

const newestPlace = (watermark: string, rows: number): KeyPlace => ({
  ...{ start: watermark, end: watermark },
  ...{ rank: rows, endRank: rows },
});

/**
 * The number of rows before a sort key. Of its leaf, the part before or after the key is read that is likely to be shorter.
 *
 * @returns undefined when the tree has changed
 */
async function readRank(
  attempt: Attempt,
  counted: CountedRows,
  { start, end, rank, endRank }: KeyPlace,
  key: string,
): Promise<number | undefined> {
  const { range, call, tree } = attempt;
  if (start === end) return rank;
  if (tree.sublist) return (await findKey(attempt, counted, key))?.rank;
  const count = async (downTo: string, before: string) => {
    const bounds = { downTo, before, keysOnly: true, maxRows: Number.POSITIVE_INFINITY };
    return (await walk(range, bounds, call)).items.length;
  };
  const timeAfter = (text: string) => earliestTime(tree.list, text) - earliestTime(tree.list, key);
  const isNearEnd = timeAfter(end) < -timeAfter(start);
  return isNearEnd ? endRank - (await count(key, end)) : rank + (await count(start, key));
}

/** The time of a sort key, or the earliest one of those that begin with a text; in milliseconds since the epoch. */
const earliestTime = ({ idPrefix }: CountedList, text: string) =>
  decodeTime(text.slice(idPrefix.length).padEnd(ulidLength, "0").slice(0, ulidLength));

const ulidLength = 26;
