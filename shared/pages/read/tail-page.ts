import type { Item } from "../dynamodb/table-client.ts";
import type { ListStart } from "./list-start.ts";
import type { PageRequest } from "./page.ts";
import { type Range, readPages, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { earliest } from "./tree/counted-list.ts";
import type { Window } from "./window.ts";

/**
 * The rows of a page that begins in the tail. A row that was written after the tail was read is left out: it is not in
 * the total, and in place of it the page, which may be the last one, would lose its oldest row.
 */
export async function readTailPage(
  range: Range,
  { tail, watermark, newest, counted }: ListStart,
  { page, limit }: PageRequest,
  call: Call,
  { from, before }: Window,
): Promise<readonly Item[]> {
  const offset = (page - 1) * limit;
  const keys = new Set(tail);
  const isListed = ({ sk }: Item) => String(sk) < watermark || keys.has(String(sk));
  const known = newest.items.filter(isListed);
  if (newest.done || offset + limit <= known.length) return known.slice(offset, offset + limit);
  const items = known.slice(offset);
  // What is known are the newest rows, without gaps.
  const reached = items.length > 0 ? String(newest.items.at(-1)?.sk) : (tail[offset - 1] ?? before);
  if (known.length < tail.length) {
    const bounds = { before: reached, downTo: tail[offset + limit - 1] ?? watermark };
    for await (const segment of readPages(range, bounds, call)) items.push(...segment.items.filter(isListed));
  }
  if (offset + limit <= tail.length || !counted) return items;
  const bounds = { before: earliest(reached ?? watermark, watermark), downTo: from };
  return [...items, ...(await walk(range, { ...bounds, maxRows: limit - items.length }, call)).items];
}
