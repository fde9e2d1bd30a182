import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { type Item, table } from "../../dynamodb/table-client.ts";
import { type Bounds, isRow, type Range, type Segment, toQuery } from "./range.ts";
import { type Call, isTooMuch } from "./read-budget.ts";

/** Which rows of a range are kept, and how many must be read for them. */
interface Reading {
  /** How many rows must be read for each that is wanted, if a filter drops the rest. */
  readonly others?: number | undefined;
  /** Drops rows that are few, unlike those of a filter: they do not let the next call read more. */
  readonly isWanted?: (row: Item) => boolean;
}

/** How many items a call reads at least where some are dropped. The minimum doubles with each further call. */
const leastItems = 100;

/** Reads the first rows of a range, newest first by default: of the table consistently, of an index eventually. */
export async function walk(
  range: Range,
  { maxRows = Number.POSITIVE_INFINITY, ...bounds }: Bounds & { readonly maxRows?: number },
  call: Call,
  reading?: Reading,
): Promise<Segment> {
  const { rows, readTo } = rowReader(range, bounds, call, reading);
  const isEnd = await readTo(maxRows);
  return { items: [...rows.values()].slice(0, maxRows), done: isEnd && rows.size <= maxRows };
}

/**
 * Reads rows of a range call by call: each reads at most 1 MB. After items were dropped, a call reads as many as are wanted,
 * but no fewer than a minimum that doubles with each call: a page of few matching rows would need too many calls. Items of
 * the future are not read: they may be many, and none is a row. If no sort key lies between the bounds, no call is made,
 * because DynamoDB would reject it.
 *
 * @returns functions that throw TooExpensiveError `invalid_items` when the budget was used up by items that routes do not
 *   store
 */
export function rowReader(
  range: Range,
  bounds: Bounds,
  call: Call,
  { others, isWanted = () => true }: Reading = {},
) {
  // By sort key: in an index by time, a row that moves during the read can be met twice, and stays in its first place.
  const rows = new Map<string, Item>();
  const asked = toQuery(range, bounds);
  const read = { items: 0, rows: 0, bytes: 0 };
  let position: Record<string, unknown> | undefined;
  let [calls, hasDropped, isEnd] = [0, false, false];
  const limitFor = (count: number) => {
    const wanted = Math.ceil((count - rows.size) * (others ?? 1));
    const least = hasDropped ? leastItems * 2 ** calls : others === undefined ? 1 : leastItems;
    const limit = Math.max(wanted, least);
    return limit === Number.POSITIVE_INFINITY ? undefined : limit;
  };
  /** Makes a call for a number of rows, by default for as many as it can read. @returns whether all rows have been read */
  const readOn = async (count = Number.POSITIVE_INFINITY): Promise<boolean> => {
    if (!asked || isEnd) return true;
    const { query, isWithin } = asked;
    const command = new QueryCommand({ ...query, Limit: limitFor(count), ExclusiveStartKey: position });
    const page = await call(async ({ onUnits, ...options }) => {
      const output = await table.send(command, options);
      const units = output.ConsumedCapacity?.CapacityUnits ?? 0;
      onUnits?.(units);
      read.bytes += units * (query.ConsistentRead ? 4096 : 8192);
      return output;
    }).catch((error: unknown) => {
      throw isTooMuch(error) && !isStoredByRoutes(read)
        ? new TooExpensiveError("invalid_items", "The list has too many invalid items.", { cause: error })
        : error;
    });
    calls++;
    position = page.LastEvaluatedKey;
    isEnd = position === undefined;
    const found = (page.Items ?? []).filter(isWithin);
    const valid = found.filter((item) => isRow(range, item));
    const items = range.where ? valid.filter(range.where) : valid;
    hasDropped ||= items.length < found.length;
    read.items += found.length;
    read.rows += valid.length;
    for (const item of items) {
      const sk = String(item.sk);
      if (!rows.has(sk) && isWanted(item)) rows.set(sk, item);
    }
    return isEnd;
  };
  return {
    rows,
    /** Reads all rows, or at least a number of them. @returns whether all have been read */
    readTo: async (count = Number.POSITIVE_INFINITY): Promise<boolean> => {
      while (rows.size < count) if (await readOn(count)) return true;
      return false;
    },
    readOn,
  };
}

/** More bytes than any row that a route stores has in the table or in an index. */
const largestRow = 20_000;

/** Whether most items that were read are rows, and the items are on average no larger than what routes store. */
const isStoredByRoutes = ({ items, rows, bytes }: { items: number; rows: number; bytes: number }) =>
  2 * rows >= items && bytes <= items * largestRow;
