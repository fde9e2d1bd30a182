import type {
  BatchGetCommandInput,
  GetCommandInput,
  QueryCommandInput,
  ScanCommandInput,
  TransactGetCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { hashName, type IndexName, keysOf } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { sum } from "../cases/statistics.ts";
import { holds, project, readKeyCondition } from "./expressions.ts";
import { firstAfter, firstAt, type Row } from "./partitions.ts";
import { checkKeys, type StoredItems, validationError } from "./stored-items.ts";

/** A page of a query or a scan ends with the row that makes it this large, in bytes. */
const pageBytes = 1024 * 1024;

/** The bytes of a read unit of a consistent read. */
const readUnit = 4096;

/** The read units of a number of bytes. */
const readUnits = (bytes: number, consistent: boolean | undefined) =>
  Math.max(1, Math.ceil(bytes / readUnit)) * (consistent ? 1 : 0.5);

export function get(items: StoredItems, { Key, ...input }: GetCommandInput) {
  const row = items.find(Key as unknown as Key);
  const output = row ? { Item: project(input.ProjectionExpression, input)(row.item) } : {};
  return { output, reads: readUnits(row?.size ?? 0, input.ConsistentRead) };
}

/**
 * Reads the items of a batch, but at most a page of each partition. DynamoDB returns items in no particular order. The
 * reverse order exposes callers that rely on the order of the keys.
 *
 * @returns the response, and the units of the keys that were read
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
 */
export function batchGet(items: StoredItems, { RequestItems = {} }: BatchGetCommandInput) {
  const [table = ""] = Object.keys(RequestItems);
  const { Keys = [], ...request } = RequestItems[table] ?? { Keys: [] };
  const keys = Keys as unknown as readonly Key[];
  if (keys.length === 0) throw validationError("A batch has no keys.");
  checkKeys(keys);
  const toPart = project(request.ProjectionExpression, request);
  const bytes = new Map<string, number>();
  const found: Item[] = [];
  const unprocessed: Key[] = [];
  let reads = 0;
  for (const key of keys) {
    const before = bytes.get(key.pk) ?? 0;
    if (before >= pageBytes) {
      unprocessed.push(key);
      continue;
    }
    const row = items.find(key);
    const size = row?.size ?? 0;
    bytes.set(key.pk, before + size);
    reads += readUnits(size, request.ConsistentRead);
    if (row) found.unshift(toPart(row.item));
  }
  const UnprocessedKeys = unprocessed.length > 0 ? { [table]: { ...request, Keys: unprocessed } } : {};
  return { output: { Responses: { [table]: found }, UnprocessedKeys }, reads };
}

/**
 * Reads the items of a transaction, in the order of its keys.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html
 */
export function transactGet(items: StoredItems, { TransactItems = [] }: TransactGetCommandInput) {
  const inputs = TransactItems.flatMap(({ Get }) => Get ?? []);
  checkKeys(inputs.map(({ Key }) => Key as unknown as Key));
  const found = inputs.map((input) => get(items, { ...input, ConsistentRead: true }));
  // A transaction reads each item twice.
  return {
    output: { Responses: found.map(({ output }) => output) },
    reads: 2 * sum(found.map(({ reads }) => reads)),
  };
}

/** A page of a query. */
export function query(items: StoredItems, input: QueryCommandInput) {
  const index = input.IndexName as IndexName | undefined;
  if (index !== undefined && input.ConsistentRead) throw validationError("An index has no consistent reads.");
  const { attribute, partition, bounds } = readKeyCondition(input.KeyConditionExpression, input);
  const rows = items.in(index).get(partition);
  const keys = keysOf(index);
  if (attribute !== keys.partition) throw validationError(`The partition key is not ${attribute}.`);
  return readPage(rowsOf(rows, bounds(rows), keys.sort, input), input, ({ item }) => ({
    pk: item.pk,
    sk: item.sk,
    [keys.partition]: partition,
    [keys.sort]: item[keys.sort],
  }));
}

/** The rows within bounds, in the order of a query, from its start on. */
function* rowsOf(
  rows: readonly Row[],
  [first, end]: readonly [number, number],
  sortKey: string,
  { ScanIndexForward = true, ExclusiveStartKey: start }: QueryCommandInput,
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
  for (; at >= first && at < end; at += step) yield rows[at] as Row;
}

/** The place of an item in a scan, which returns partitions in the order of their hashes. */
const placeOf = ({ pk, sk }: Key) => `${hashName(pk)} ${sk}`;

/** A page of a scan of the whole table or of a segment. It begins after any key. */
export function scan(items: StoredItems, input: ScanCommandInput) {
  const { Segment = 0, TotalSegments = 1, ExclusiveStartKey } = input;
  const start = ExclusiveStartKey ? placeOf(ExclusiveStartKey as unknown as Key) : "";
  const left = Array.from(items.in(undefined).all(), (row) => ({ row, place: placeOf(row) }))
    .filter(({ place }) => place.charCodeAt(0) % TotalSegments === Segment && place > start)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  return readPage(
    left.map(({ row }) => row),
    input,
    ({ pk, sk }) => ({ pk, sk }),
  );
}

/** Reads rows up to the limit of a query or a scan, or of a page. @param toKey returns the key after which to go on */
function readPage(
  rows: Iterable<Row>,
  input: QueryCommandInput | ScanCommandInput,
  toKey: (last: Row) => object,
) {
  const { Limit = Number.POSITIVE_INFINITY } = input;
  const page: Row[] = [];
  let [bytes, ended] = [0, true];
  for (const row of rows) {
    ended = page.length < Limit && bytes < pageBytes;
    if (!ended) break;
    page.push(row);
    bytes += row.size;
  }
  const last = ended && page.length < Limit ? undefined : page.at(-1);
  const found = page.filter(({ item }) => holds(input.FilterExpression, item, input));
  const toPart = project(input.ProjectionExpression, input);
  const output = {
    Items: found.map(({ item }) => toPart(item)),
    Count: found.length,
    ScannedCount: page.length,
    ...(last && { LastEvaluatedKey: toKey(last) }),
  };
  return { output, reads: readUnits(bytes, input.ConsistentRead) };
}
