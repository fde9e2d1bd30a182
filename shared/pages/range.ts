import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { type IndexName, indexes } from "../dynamodb/keys.ts";
import { type Item, table, tableName } from "../dynamodb/table-client.ts";

/** The rows of a list: a partition of the table or of one of its indexes. */
export interface Range {
  readonly index?: IndexName;
  readonly partition: string;
  /** Attributes that must have these values. The table reads the other rows and drops them: for small partitions. */
  readonly where?: Readonly<Record<string, string>>;
}

/** A segment of a range, newest first. */
export interface Segment {
  readonly count: number;
  /** The rows, unless they were only counted. */
  readonly items: readonly Item[];
  /** Whether the range ends here. */
  readonly done: boolean;
  readonly position: Record<string, unknown> | undefined;
}

interface Walk {
  /** The sort key before which the rows lie. */
  readonly before?: string | undefined;
  /** The sort key at which the rows end, inclusive. */
  readonly downTo?: string | undefined;
  readonly maxRows: number;
  /** Whether to read the rows or only to count them. */
  readonly read: boolean;
  /** An earlier segment with the same bounds, to continue after. */
  readonly after?: Segment;
}

/** More rows than one call can ever read: a call ends after 1 MB. */
const maxRowsPerCall = 100_000;

/** Reads or counts the matching rows of a range, newest first: consistently in the table, eventually in an index. */
export async function walk(range: Range, { before, downTo, maxRows, read, after }: Walk): Promise<Segment> {
  const items: Item[] = [];
  let { done, position } = after ?? { done: false, position: undefined };
  let count = 0;
  while (!done && count < maxRows) {
    const response = await table.send(
      new QueryCommand({
        ...buildQuery(range, before, downTo),
        Limit: Math.min(maxRows - count, maxRowsPerCall),
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
