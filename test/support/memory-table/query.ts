import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { type IndexName, keysOf } from "../../../shared/dynamodb/keys.ts";
import { holds, project } from "./expressions.ts";
import { readKeyCondition } from "./key-condition.ts";
import { firstAfter, firstAt, type Row } from "./partitions.ts";
import { type StoredItems, validationError } from "./stored-items.ts";

/** A page of a query ends with the row that makes it this large, in bytes. */
export const pageBytes = 1024 * 1024;

/** The bytes of a read unit of a consistent read. */
const readUnit = 4096;

/** The read units of a number of bytes. */
export const readUnits = (bytes: number, consistent: boolean | undefined) =>
  Math.max(1, Math.ceil(bytes / readUnit)) * (consistent ? 1 : 0.5);

/** A page of a query. */
export function query(items: StoredItems, input: QueryCommandInput) {
  const index = input.IndexName as IndexName | undefined;
  if (index !== undefined && input.ConsistentRead) throw validationError("An index has no consistent reads.");
  const { attribute, partition, bounds } = readKeyCondition(input.KeyConditionExpression, input);
  const rows = items.in(index).get(partition);
  const keys = keysOf(index);
  if (attribute !== keys.partition) throw validationError(`The partition key is not ${attribute}.`);
  const { page, bytes, ended } = readPage(rows, bounds(rows), keys.sort, input);
  const last = page.at(-1);
  const found = page.filter(({ item }) => holds(input.FilterExpression, item, input));
  const toPart = project(input.ProjectionExpression, input);
  const output = {
    Items: found.map(({ item }) => toPart(item)),
    Count: found.length,
    ScannedCount: page.length,
    ...(!ended && last && { LastEvaluatedKey: toKey(last, keys, partition) }),
  };
  return { output, reads: readUnits(bytes, input.ConsistentRead) };
}

/** Reads rows up to the limit of a query or of a page. @returns `ended`: whether no rows are left */
function readPage(
  rows: readonly Row[],
  [first, end]: readonly [number, number],
  sortKey: string,
  { Limit = Number.POSITIVE_INFINITY, ScanIndexForward = true, ExclusiveStartKey: start }: QueryCommandInput,
) {
  const step = ScanIndexForward ? 1 : -1;
  let at = ScanIndexForward ? first : end - 1;
  if (start) {
    const { pk, sk, [sortKey]: time } = start;
    const position =
      sortKey === "sk" ? { pk: String(pk), sk: String(sk) } : { pk: String(sk), sk: String(time) };
    at = ScanIndexForward
      ? Math.max(at, firstAfter(rows, position))
      : Math.min(at, firstAt(rows, position) - 1);
  }
  const page: Row[] = [];
  let bytes = 0;
  for (; at >= first && at < end; at += step) {
    if (page.length >= Limit || bytes >= pageBytes) return { page, bytes, ended: false };
    const row = rows[at] as Row;
    page.push(row);
    bytes += row.size;
  }
  return { page, bytes, ended: page.length < Limit };
}

const toKey = ({ item }: Row, keys: ReturnType<typeof keysOf>, partition: string) => ({
  pk: item.pk,
  sk: item.sk,
  [keys.partition]: partition,
  [keys.sort]: item[keys.sort],
});
