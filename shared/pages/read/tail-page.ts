import type { Item } from "../../dynamodb/table-client.ts";
import type { PageRequest } from "../page.ts";
import { earliest } from "../tree/counted-list.ts";
import type { ListStart } from "./list-start.ts";
import { type Range, readPages, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import type { Window } from "./window.ts";

/**
 * The rows of a page that begins among those whose sort keys are known. A row that was written after these were read is
 * left out: it is not in the total, and in place of it the page, which may be the last one, would lose its oldest row.
 */
export async function readTailPage(
  range: Range,
  { keys, end, newest, counted }: ListStart,
  { page, limit }: PageRequest,
  call: Call,
  { from, before }: Window,
): Promise<readonly Item[]> {
  const offset = (page - 1) * limit;
  const listed = new Set(keys);
  const isListed = ({ sk }: Item) => String(sk) < end || listed.has(String(sk));
  const known = newest.items.filter(isListed);
  if (newest.done || offset + limit <= known.length) return known.slice(offset, offset + limit);
  const items = known.slice(offset);
  // What is known are the newest rows, without gaps.
  const reached = items.length > 0 ? String(newest.items.at(-1)?.sk) : (keys[offset - 1] ?? before);
  if (known.length < keys.length) {
    const bounds = { before: reached, downTo: keys[offset + limit - 1] ?? end };
    for await (const segment of readPages(range, bounds, call)) items.push(...segment.items.filter(isListed));
  }
  if (offset + limit <= keys.length || !counted) return items;
  const bounds = { before: earliest(reached ?? end, end), downTo: from };
  return [...items, ...(await walk(range, { ...bounds, maxRows: limit - items.length }, call)).items];
}
