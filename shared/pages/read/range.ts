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
  /** The partition of its rows in the table. An index may also have other items: their writers choose the index keys. */
  readonly pk?: string;
  /** Which rows are asked for; without it, all. Other rows are read and dropped. */
  readonly where?: ((row: Item) => boolean) | undefined;
}

/** Identifies the partition of a range. */
export const rangeId = ({ index, partition }: Range) => `${index ?? "table"} ${partition}`;

/** Whether an item is a row of a range, and counted there. Any other item is logged. */
export function isRow({ list, partition, pk = partition }: Range, item: Item): boolean {
  const isKey = isRowKey(list, item.sk);
  const isValid = isKey && item.pk === pk;
  if (!isValid) logInvalidItem({ pk: String(item.pk), sk: String(item.sk), field: isKey ? "pk" : "sk" });
  return isValid;
}

/** A segment of a range, newest first unless it is read the other way round. */
export interface Segment {
  readonly items: readonly Item[];
  /** Whether no more rows follow within the bounds. */
  readonly done: boolean;
}

/** Which rows of a range are read, and how: between two sort keys, or two times in an index of times. */
export interface Bounds extends Window {
  /** Whether to read only the keys: for the same read units, but fewer bytes. */
  readonly keysOnly?: boolean;
  readonly ascending?: boolean | undefined;
}

/** The query of a range, and which of its items are within the bounds; undefined if no sort key lies between the bounds. */
export function toQuery(
  { list, index, partition }: Range,
  { from, before, keysOnly, ascending = false }: Bounds,
) {
  const keys = keysOf(index);
  const endOfAll = keys.sort === "sk" ? endOfRows(list) : new Date(Date.now() + maxIdAhead + 1).toISOString();
  const end = earliest(before ?? endOfAll, endOfAll);
  if (end <= (from ?? "")) return undefined;
  const query = {
    TableName: tableName,
    IndexName: index,
    KeyConditionExpression: `#partition = :partition AND ${keys.sort} ${from ? "BETWEEN :from AND" : "<"} :before`,
    ...(keysOnly && { ProjectionExpression: "pk, sk" }),
    ExpressionAttributeNames: { "#partition": keys.partition },
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
