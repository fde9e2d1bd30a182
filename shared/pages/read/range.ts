import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { indexes } from "../../dynamodb/keys.ts";
import { logMalformed } from "../../dynamodb/malformed-items.ts";
import { type Item, table, tableName } from "../../dynamodb/table-client.ts";
import { type CountedList, earliest, endOfRows, isRowKey } from "../tree/counted-list.ts";
import type { Call } from "./read-budget.ts";

/** The rows of a list: a partition of the table or of one of its indexes. */
export interface Range {
  readonly list: CountedList;
  readonly index?: keyof typeof indexes;
  readonly partition: string;
  /** Attributes that all its rows have. In an index, other items may be there: the index key of an item is what its writer says. */
  readonly rows: Readonly<Record<string, string>>;
  /**
   * Attributes that must have these values, where they are defined. Other rows are read and dropped: for small partitions,
   * of which all rows are read.
   */
  readonly where?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Identifies the partition of a range. */
export const rangeId = ({ index, partition }: Range) => `${index ?? "table"} ${partition}`;

/** Whether an item is a row of a range, and counted there. Any other is logged. */
export function isRow({ list, partition, rows }: Range, item: Item): boolean {
  const isWrong = (name: string) => item[name] !== rows[name];
  const field = isRowKey(list, item.sk) ? Object.keys(rows).find(isWrong) : "sk";
  if (field !== undefined) logMalformed({ pk: String(item.pk ?? partition), sk: String(item.sk), field });
  return field === undefined;
}

/** Whether an item has these values of attributes, where they are defined. */
export const hasAttributes = (where: NonNullable<Range["where"]>) => (item: Item) =>
  Object.entries(where).every(([name, value]) => value === undefined || item[name] === value);

/** A segment of a range, newest first unless it is read the other way round. */
export interface Segment {
  readonly items: readonly Item[];
  /** Whether no more rows follow within the bounds. */
  readonly done: boolean;
}

interface Bounds {
  /** The sort key before which the rows lie. */
  readonly before?: string | undefined;
  /** The sort key at which the rows end, inclusive. */
  readonly downTo?: string | undefined;
  /** Whether to read only the sort keys and what all rows have: for the same read units, but fewer bytes. */
  readonly keysOnly?: boolean;
  /** Whether the oldest rows are read first. */
  readonly ascending?: boolean | undefined;
}

/** Reads the first rows of a range, newest first: consistently in the table, eventually in an index. */
export async function walk(
  range: Range,
  { maxRows, ...bounds }: Bounds & { readonly maxRows: number },
  call: Call,
): Promise<Segment> {
  const items: Item[] = [];
  for await (const page of readSegments(range, bounds, call, () => maxRows - items.length)) {
    items.push(...page.items);
    if (items.length > maxRows) return { items: items.slice(0, maxRows), done: false };
    if (page.done || items.length === maxRows) return { items, done: page.done };
  }
  return { items, done: true };
}

/**
 * Reads a range segment by segment. A segment has the rows of one call, at most 1 MB. Bounds between which no sort key lies make no
 * call: DynamoDB would reject it.
 *
 * @param wanted how many more rows the caller needs
 */
export async function* readSegments(
  range: Range,
  bounds: Bounds,
  call: Call,
  wanted = () => Number.POSITIVE_INFINITY,
): AsyncGenerator<Segment> {
  // Items of the future may be any number, and none is a row.
  const end = endOfRows(range.list);
  const before = earliest(bounds.before ?? end, end);
  if (before <= (bounds.downTo ?? "")) return;
  const query = buildQuery(range, { ...bounds, before });
  let position: Record<string, unknown> | undefined;
  let isMixed = false;
  do {
    const command = new QueryCommand({
      ...query,
      // Among items that are no rows, a page of few would need too many calls.
      Limit: isMixed || wanted() === Number.POSITIVE_INFINITY ? undefined : wanted(),
      ExclusiveStartKey: position,
    });
    const { Items = [], LastEvaluatedKey } = await call(
      (options) => table.send(command, options),
      position !== undefined && (bounds.keysOnly || range.where !== undefined),
    );
    position = LastEvaluatedKey;
    // BETWEEN includes its upper bound.
    const found = Items.filter(({ sk }) => sk !== before);
    const items = found.filter((item) => isRow(range, item));
    isMixed ||= items.length < found.length;
    yield {
      items: range.where ? items.filter(hasAttributes(range.where)) : items,
      done: position === undefined,
    };
  } while (position);
}

function buildQuery(
  { index, partition, rows }: Range,
  { before, downTo, keysOnly, ascending = false }: Bounds & { readonly before: string },
): QueryCommandInput {
  const sortKey = downTo ? "sk BETWEEN :downTo AND :before" : "sk < :before";
  const names = keysOnly ? Object.keys(rows) : [];
  return {
    TableName: tableName,
    IndexName: index,
    KeyConditionExpression: `#partition = :partition AND ${sortKey}`,
    ...(keysOnly && { ProjectionExpression: ["sk", ...names.map((name) => `#${name}`)].join(", ") }),
    ExpressionAttributeNames: {
      "#partition": index ? indexes[index] : "pk",
      ...Object.fromEntries(names.map((name) => [`#${name}`, name])),
    },
    ExpressionAttributeValues: {
      ":partition": partition,
      ":before": before,
      ...(downTo && { ":downTo": downTo }),
    },
    ScanIndexForward: ascending,
    ConsistentRead: index === undefined,
  };
}
