import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { type IndexName, indexes } from "../dynamodb/keys.ts";
import { table, tableName } from "../dynamodb/table-client.ts";

/** The rows that a list is made of: a partition of the table or of one of its indexes. */
export interface Range {
  readonly index?: IndexName;
  readonly partition: string;
  /** Attributes that must have these values besides; read and dropped by the table, so meant for small partitions. */
  readonly where?: Readonly<Record<string, string>>;
}

/** A row as the table gives it. */
export type Item = Record<string, unknown>;

/** A stretch of a range, newest first. */
export interface Stretch {
  readonly count: number;
  /** The rows, unless they were only counted. */
  readonly items: readonly Item[];
  /** Whether the range has no rows after these. */
  readonly done: boolean;
  readonly position: Item | undefined;
}

interface Walk {
  /** The sort key before which the rows lie. */
  readonly before?: string | undefined;
  /** The sort key at which the rows end, itself included. */
  readonly downTo?: string | undefined;
  readonly most: number;
  /** Whether to read the rows or to count them only. */
  readonly read: boolean;
  /** An earlier walk over the same rows, to go on from where it stopped. */
  readonly from?: Stretch;
}

/** More rows than one call can ever read: a call ends after 1 MB. */
const maxRowsPerCall = 100_000;

/**
 * Goes over at most `most` matching rows of a range, newest first. The base table is read consistently; an index
 * cannot be.
 */
export async function walk(range: Range, { before, downTo, most, read, from }: Walk): Promise<Stretch> {
  const items: Item[] = [];
  let { done, position } = from ?? { done: false, position: undefined };
  let count = 0;
  while (!done && count < most) {
    const response = await table.send(
      new QueryCommand({
        ...buildQuery(range, before, downTo),
        Limit: Math.min(most - count, maxRowsPerCall),
        Select: read ? "ALL_ATTRIBUTES" : "COUNT",
        ExclusiveStartKey: position,
      }),
    );
    items.push(...(response.Items ?? []));
    count += response.Count ?? 0;
    position = response.LastEvaluatedKey;
    done = position === undefined;
  }
  return { count, items, done, position };
}

function buildQuery(
  { index, partition, where = {} }: Range,
  before?: string,
  downTo?: string,
): QueryCommandInput {
  const conditions = Object.entries(where);
  const sortKey = before !== undefined ? "sk < :sk" : downTo ? "sk >= :sk" : undefined;
  return {
    TableName: tableName,
    IndexName: index,
    KeyConditionExpression: ["#partition = :partition", sortKey].filter(Boolean).join(" AND "),
    FilterExpression: conditions.map((_, i) => `#where${i} = :where${i}`).join(" AND ") || undefined,
    ExpressionAttributeNames: {
      "#partition": index ? indexes[index] : "pk",
      ...Object.fromEntries(conditions.map(([name], i) => [`#where${i}`, name])),
    },
    ExpressionAttributeValues: {
      ":partition": partition,
      ...(sortKey && { ":sk": before ?? downTo }),
      ...Object.fromEntries(conditions.map(([, value], i) => [`:where${i}`, value])),
    },
    ScanIndexForward: false,
    ConsistentRead: index === undefined,
  };
}
