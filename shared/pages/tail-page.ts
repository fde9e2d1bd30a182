import type { Item } from "../dynamodb/table-client.ts";
import type { PageRequest } from "./page.ts";
import { type Range, type Segment, walk } from "./range.ts";
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
  if (newest.done || offset + limit <= newest.items.length) return newest.items.slice(offset, offset + limit);
  const counted = new Set(tail);
  const items: Item[] = [];
  let before = tail[offset - 1];
  while (items.length < limit) {
    const segment = await walk(range, { before, maxRows: limit - items.length }, call);
    items.push(...segment.items.filter(({ sk }) => String(sk) < watermark || counted.has(String(sk))));
    if (segment.done) break;
    before = String(segment.items.at(-1)?.sk);
  }
  return items;
}
