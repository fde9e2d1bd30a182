import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { type IndexName, indexes } from "../keys.ts";
import { table, tableName } from "../table.ts";
import type { Page, PageRequest } from "./page.ts";

/** The rows that a list is made of: a partition of the table or of one of its indexes. */
export interface Range {
  readonly index?: IndexName;
  readonly partition: string;
  /** Attributes that must have these values besides; read and dropped by the table, so meant for small partitions. */
  readonly where?: Readonly<Record<string, string>>;
}

type Item = Record<string, unknown>;
type Position = Record<string, unknown> | undefined;

/** More rows than one call can ever read: a call ends after 1 MB. */
const maxRowsPerCall = 100_000;

/**
 * A page of the range, newest first, and the range's exact total, by one walk through all of it: the rows before
 * the page and after it are counted, those of the page are read. A first page that holds everything needs one
 * call. The base table is read consistently; an index cannot be.
 */
export async function listPage<T>(
  range: Range,
  { page, limit }: PageRequest,
  toRecord: (item: Item) => T,
): Promise<Page<T>> {
  const before = await walk(range, { most: (page - 1) * limit, rows: false });
  const rows = await walk(range, { most: limit, rows: true, from: before });
  const after = await walk(range, { most: Number.POSITIVE_INFINITY, rows: false, from: rows });
  return {
    data: rows.items.map(toRecord),
    pagination: { page, limit, total: before.count + rows.count + after.count },
  };
}

interface Walk {
  readonly count: number;
  readonly items: Item[];
  /** Whether the range has no rows after these. */
  readonly done: boolean;
  readonly position: Position;
}

const start: Walk = { count: 0, items: [], done: false, position: undefined };

/** Goes on from where an earlier walk stopped, over at most `most` matching rows; reads them, or counts them only. */
async function walk(
  range: Range,
  { most, rows, from = start }: { most: number; rows: boolean; from?: Walk },
): Promise<Walk> {
  const items: Item[] = [];
  let { done, position } = from;
  let count = 0;
  while (!done && count < most) {
    const answer = await table.send(
      new QueryCommand({
        ...queryOf(range),
        Limit: Math.min(most - count, maxRowsPerCall),
        Select: rows ? "ALL_ATTRIBUTES" : "COUNT",
        ExclusiveStartKey: position,
      }),
    );
    items.push(...(answer.Items ?? []));
    count += answer.Count ?? 0;
    position = answer.LastEvaluatedKey;
    done = position === undefined;
  }
  return { count, items, done, position };
}

function queryOf({ index, partition, where = {} }: Range): QueryCommandInput {
  const conditions = Object.entries(where);
  return {
    TableName: tableName,
    IndexName: index,
    KeyConditionExpression: "#partition = :partition",
    FilterExpression: conditions.map((_, i) => `#where${i} = :where${i}`).join(" AND ") || undefined,
    ExpressionAttributeNames: {
      "#partition": index ? indexes[index] : "pk",
      ...Object.fromEntries(conditions.map(([name], i) => [`#where${i}`, name])),
    },
    ExpressionAttributeValues: {
      ":partition": partition,
      ...Object.fromEntries(conditions.map(([, value], i) => [`:where${i}`, value])),
    },
    ScanIndexForward: false,
    ConsistentRead: index === undefined,
  };
}
