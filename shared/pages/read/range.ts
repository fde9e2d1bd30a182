import { logInvalidItem } from "../../dynamodb/invalid-items.ts";
import { type IndexName, keysOf } from "../../dynamodb/keys.ts";
import { type Item, tableName } from "../../dynamodb/table-client.ts";
import { maxIdAhead } from "../../ids.ts";
import { earliest, endOfRows, isRowKey } from "../tree/counted-list.ts";
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
export function isRow({ list, partition, rows }: Range, item: Item): boolean {
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

/** The query of a range, and which of its items are within the bounds; undefined if no sort key lies between the bounds. */
export function toQuery(
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
