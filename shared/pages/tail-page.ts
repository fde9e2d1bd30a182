import type { Item } from "../dynamodb/table-client.ts";
import type { PageRequest } from "./page.ts";
import { type Range, readPages, type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";

/** What a list has read of its tail. */
interface ReadTail {
  /** The sort keys of the tail, newest first. */
  readonly tail: readonly string[];
  /** The sort key at which the tail ends. */
  readonly watermark: string;
  /** The newest rows of the range. */
  readonly newest: Segment;
}

/**
 * The rows of a page that begins in the tail. A row that was written after the tail was read is left out: it is not in
 * the total, and in place of it the page, which may be the last one, would lose its oldest row.
 */
export async function readTailPage(
  range: Range,
  { tail, watermark, newest }: ReadTail,
  { page, limit }: PageRequest,
  call: Call,
): Promise<readonly Item[]> {
  const offset = (page - 1) * limit;
  const counted = new Set(tail);
  const isCounted = ({ sk }: Item) => String(sk) < watermark || counted.has(String(sk));
  const known = newest.items.filter(isCounted);
  if (newest.done || offset + limit <= known.length) return known.slice(offset, offset + limit);
  const items: Item[] = [];
  const bounds = { before: tail[offset - 1], downTo: tail[offset + limit - 1] ?? watermark };
  for await (const segment of readPages(range, bounds, call)) items.push(...segment.items.filter(isCounted));
  const missing = limit - items.length;
  if (offset + limit <= tail.length || watermark === "") return items;
  return [...items, ...(await walk(range, { before: watermark, maxRows: missing }, call)).items];
}
