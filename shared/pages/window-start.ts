import { decodeTime } from "ulid";
import { type Attempt, findKey, findRow, type KeyPlace } from "./find-row.ts";
import type { ListStart } from "./list-start.ts";
import type { PageRequest } from "./page.ts";
import { type Segment, walk } from "./range.ts";
import { type CountedList, latest } from "./tree/counted-list.ts";
import { isWithin, type Window } from "./window.ts";

/**
 * The part of a list's start that lies in its window. If the window ends before the watermark, it has no tail. The ranks of
 * its ends are its total; for each, a part of a leaf is read.
 *
 * @param request of the page: what it needs is read at the same time
 * @returns undefined when the tree has changed
 */
export async function narrowStart(
  attempt: Attempt,
  start: ListStart,
  { page, limit }: PageRequest,
): Promise<ListStart | undefined> {
  const { window = {}, range, call } = attempt;
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
  const [first, last] = await Promise.all([
    from === "" ? oldest : findKey(attempt, counted, from),
    isCut ? findKey(attempt, counted, before) : newestPlace(watermark, counted.rows),
  ]);
  if (!first || !last) return undefined;
  const offset = (page - 1) * limit;
  const middle = Math.floor((last.rank + last.endRank) / 2);
  const [skipped, rows, firstPage] = await Promise.all([
    readRank(attempt, first, from),
    readRank(attempt, last, watermark),
    isCut && page === 1 ? walk(range, { before, downTo: from, maxRows: limit }, call) : newest,
    page > 1 ? findRow(attempt, counted, Math.max(0, middle - 1 - offset)) : undefined,
  ]);
  if (isCut && firstPage.done) return allRead(firstPage);
  const total = tail.length + Math.max(0, rows - skipped);
  return { newest: firstPage, tail, watermark, counted: { ...counted, rows }, total };
}

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

/** The number of rows before a sort key. Of its leaf, the part before or after the key is read that is likely to be shorter. */
async function readRank(
  { range, call, tree: { list } }: Attempt,
  { start, end, rank, endRank }: KeyPlace,
  key: string,
): Promise<number> {
  const count = async (downTo: string, before: string) => {
    const bounds = { downTo, before, keysOnly: true, maxRows: Number.POSITIVE_INFINITY };
    return (await walk(range, bounds, call)).items.length;
  };
  if (start === end) return rank;
  const timeAfter = (text: string) => earliestTime(list, text) - earliestTime(list, key);
  const isNearEnd = timeAfter(end) < -timeAfter(start);
  return isNearEnd ? endRank - (await count(key, end)) : rank + (await count(start, key));
}

/** The time of a sort key, or the earliest one of those that begin with a text; in milliseconds since the epoch. */
const earliestTime = ({ idPrefix }: CountedList, text: string) =>
  decodeTime(text.slice(idPrefix.length).padEnd(ulidLength, "0").slice(0, ulidLength));

const ulidLength = 26;
