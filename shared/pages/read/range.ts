import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { logInvalidItem } from "../../dynamodb/invalid-items.ts";
import { type IndexName, keysOf } from "../../dynamodb/keys.ts";
import { type Item, table, tableName } from "../../dynamodb/table-client.ts";
import { maxIdAhead } from "../../ids.ts";
import { earliest, endOfRows, isRowKey } from "../tree/counted-list.ts";
import type { Call } from "./read-budget.ts";
import type { Window } from "./window.ts";

/** The rows of a list, or the messages of a conversation: a partition of the table or of one of its indexes. */
export interface Range {
  readonly list: { readonly type: "lead" | "conversation" | "message" };
  readonly index?: IndexName;
  readonly partition: string;
  /** Attributes that all its rows have. An index may also have other items: the writer of an item chooses its index keys. */
  readonly rows: Readonly<Record<string, string>>;
  /** Which rows are asked for; without it, all. Other rows are read and dropped. */
  readonly where?: ((row: Item) => boolean) | undefined;
}

/** Identifies the partition of a range. */
export const rangeId = ({ index, partition }: Range) => `${index ?? "table"} ${partition}`;

/** Whether an item is a row of a range, and counted there. Any other item is logged. */
function isRow({ list, partition, rows }: Range, item: Item): boolean {
  const isWrong = (name: string) => item[name] !== rows[name];
  const field = isRowKey(list, item.sk) ? Object.keys(rows).find(isWrong) : "sk";
  if (field !== undefined) logInvalidItem({ pk: String(item.pk ?? partition), sk: String(item.sk), field });
  return field === undefined;
}

/** A segment of a range, newest first unless it is read the other way round. */
export interface Segment {
  readonly items: readonly Item[];
  /** Whether no more rows follow within the bounds. */
  readonly done: boolean;
}

/** Which rows of a range are read, and how: between two sort keys, or two times in an index of times. */
export interface Bounds extends Window {
  /** Whether to read only the sort keys and the attributes in `rows`: for the same read units, but fewer bytes. */
  readonly keysOnly?: boolean;
  readonly ascending?: boolean | undefined;
}

/** How many items a call reads at least where some are dropped. The minimum doubles with each further call. */
export const leastItems = 100;

/**
 * Reads a range segment by segment. A segment has the rows of one call, at most 1 MB. After items were dropped, a call reads
 * as many as are wanted, but no fewer than a minimum that doubles with each call: a page of few matching rows would need too
 * many calls. Items of the future are not read: they may be many, and none is a row. If no sort key lies between the bounds,
 * no call is made, because DynamoDB would reject it.
 *
 * @param wanted how many more rows the caller needs
 * @throws TooExpensiveError `invalid_items` when the budget was used up by items that routes do not store
 */
export async function* readSegments(
  range: Range,
  bounds: Bounds,
  call: Call,
  wanted = () => Number.POSITIVE_INFINITY,
): AsyncGenerator<Segment> {
  const asked = toQuery(range, bounds);
  if (!asked) return;
  const { query, isWithin } = asked;
  const read = { items: 0, rows: 0, bytes: 0 };
  let position: Record<string, unknown> | undefined;
  let calls = 0;
  let hasDropped = false;
  do {
    const limit = hasDropped ? Math.max(wanted(), leastItems * 2 ** calls) : wanted();
    const command = new QueryCommand({
      ...query,
      Limit: limit === Number.POSITIVE_INFINITY ? undefined : limit,
      ExclusiveStartKey: position,
    });
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
    const found = (page.Items ?? []).filter(isWithin);
    const rows = found.filter((item) => isRow(range, item));
    const items = range.where ? rows.filter(range.where) : rows;
    hasDropped ||= items.length < found.length;
    read.items += found.length;
    read.rows += rows.length;
    yield { items, done: position === undefined };
  } while (position);
}

/** Whether a list has used up its budget of calls or read units. */
export const isTooMuch = (error: unknown) =>
  error instanceof TooExpensiveError && error.code === "too_many_reads";

/** More bytes than any row that a route stores has in the table or in an index. */
const largestRow = 20_000;

/** Whether most items that were read are rows, and the items are on average no larger than what routes store. */
const isStoredByRoutes = ({ items, rows, bytes }: { items: number; rows: number; bytes: number }) =>
  2 * rows >= items && bytes <= items * largestRow;

/** The query of a range, and which of its items are within the bounds; undefined if no sort key lies between the bounds. */
function toQuery(
  { list, index, partition, rows }: Range,
  { from, before, keysOnly, ascending = false }: Bounds,
) {
  const keys = keysOf(index);
  const endOfAll = keys.sort === "sk" ? endOfRows(list) : new Date(Date.now() + maxIdAhead + 1).toISOString();
  const end = earliest(before ?? endOfAll, endOfAll);
  if (end <= (from ?? "")) return undefined;
  const names = keysOnly ? Object.keys(rows) : [];
  const query = {
    TableName: tableName,
    IndexName: index,
    KeyConditionExpression: `#partition = :partition AND ${keys.sort} ${from ? "BETWEEN :from AND" : "<"} :before`,
    ...(keysOnly && { ProjectionExpression: ["sk", ...names.map((name) => `#${name}`)].join(", ") }),
    ExpressionAttributeNames: {
      "#partition": keys.partition,
      ...Object.fromEntries(names.map((name) => [`#${name}`, name])),
    },
    ExpressionAttributeValues: {
      ":partition": partition,
      ":before": end,
      ...(from && { ":from": from }),
    },
    ScanIndexForward: ascending,
    ConsistentRead: index === undefined,
    ReturnConsumedCapacity: "TOTAL",
  } as const;
  // BETWEEN includes its upper bound.
  return { query, isWithin: (item: Item) => item[keys.sort] !== end };
}
