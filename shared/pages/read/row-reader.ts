import type { Item } from "../../dynamodb/table-client.ts";
import { type Bounds, leastItems, type Range, readSegments, type Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";

/** Reads the first rows of a range, newest first by default: of the table consistently, of an index eventually. */
export async function walk(
  range: Range,
  { maxRows = Number.POSITIVE_INFINITY, ...bounds }: Bounds & { readonly maxRows?: number },
  call: Call,
  reading?: Parameters<typeof rowReader>[3],
): Promise<Segment> {
  const { rows, readTo } = rowReader(range, bounds, call, reading);
  const isEnd = await readTo(maxRows);
  return { items: [...rows.values()].slice(0, maxRows), done: isEnd && rows.size <= maxRows };
}

/**
 * Reads rows of a range call by call.
 *
 * @param reading `others`: how many rows must be read for each that is wanted, if a filter drops the rest
 */
export function rowReader(
  range: Range,
  bounds: Bounds,
  call: Call,
  { others, isWanted = () => true }: { others?: number | undefined; isWanted?: (row: Item) => boolean } = {},
) {
  // By sort key: in an index by time, a row that moves during the read can be met twice, and stays in its first place.
  const rows = new Map<string, Item>();
  let wanted = Number.POSITIVE_INFINITY;
  const least = others === undefined ? 1 : leastItems;
  const missing = () => Math.max(Math.ceil((wanted - rows.size) * (others ?? 1)), least);
  const segments = readSegments(range, bounds, call, missing);
  /** Makes a call. @returns whether all rows have been read */
  const readOn = async (): Promise<boolean> => {
    const { value } = await segments.next();
    const { items = [], done = true } = value ?? {};
    for (const item of items) {
      const sk = String(item.sk);
      if (!rows.has(sk) && isWanted(item)) rows.set(sk, item);
    }
    return done;
  };
  return {
    rows,
    /** Reads all rows, or at least a number of them. @returns whether all have been read */
    readTo: async (count = Number.POSITIVE_INFINITY): Promise<boolean> => {
      wanted = count;
      while (rows.size < count) if (await readOn()) return true;
      return false;
    },
    /** Reads the rows of one call of any size. @returns whether all have been read */
    readOn: () => {
      wanted = Number.POSITIVE_INFINITY;
      return readOn();
    },
  };
}
