import {
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from "@aws-sdk/lib-dynamodb";
import type { AnyPace } from "./pace.ts";
import { type Item, table, tableName } from "./table-client.ts";

/** What a query adds to its partition: an index, a range of sort keys, a filter, some of the attributes. */
export type QuerySelection = Omit<QueryCommandInput, keyof Position | "ConsistentRead">;

/** Another table than the selected one, and the client that reaches it. */
export interface OtherTable {
  readonly client: typeof table;
  readonly name: string;
}

const selected = (): OtherTable => ({ client: table, name: tableName });

/** Reads a partition page by page, when the pace allows it: of the table consistently, or of an index. */
export function queryPages(selection: QuerySelection, pace: AnyPace, other = selected()) {
  const ConsistentRead = selection.IndexName === undefined;
  const send = (position: Position) =>
    other.client.send(new QueryCommand({ ...selection, ...position, ConsistentRead }));
  return readPages(send, pace, other);
}

/** Reads the items of these pages. */
export async function* queryItems(...query: Parameters<typeof queryPages>): AsyncGenerator<readonly Item[]> {
  for await (const { Items = [] } of queryPages(...query)) yield Items;
}

/** Reads the same items, all into memory. */
export const queryAll = async (...query: Parameters<typeof queryItems>): Promise<Item[]> =>
  (await Array.fromAsync(queryItems(...query))).flat();

/** The items of a partition of the table. */
export const inPartition = (pk: string) => ({
  KeyConditionExpression: "pk = :pk",
  ExpressionAttributeValues: { ":pk": pk },
});

/** The items of a partition of the table from a sort key on, or to another one, which is included. */
export const between = (pk: string, start: string, end?: string) => ({
  KeyConditionExpression: `pk = :pk AND ${end === undefined ? "sk >= :start" : "sk BETWEEN :start AND :end"}`,
  ExpressionAttributeValues: { ":pk": pk, ":start": start, ...(end !== undefined && { ":end": end }) },
});

/** Reads only the keys of items. */
export const keysOnly = { ProjectionExpression: "pk, sk" };

/** The items of a partition of the table whose sort keys begin with a text. */
export const withPrefix = (pk: string, prefix: string) => ({
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: { ":pk": pk, ":prefix": prefix },
});

/** What a scan reads: one of several segments of the table, a filter, some of the attributes. */
export type ScanSelection = Omit<ScanCommandInput, keyof Position>;

/** Reads the table or a segment of it page by page, when the pace allows it. @param from the key after which it begins */
export function scanItems(selection: ScanSelection, pace: AnyPace, from?: Item, other = selected()) {
  const send = (position: Position) => other.client.send(new ScanCommand({ ...selection, ...position }));
  return readPages(send, pace, other, from);
}

/** The parameters of a call that its caller does not choose. */
type Position = Pick<ScanCommandInput, "TableName" | "ExclusiveStartKey" | "ReturnConsumedCapacity">;

async function* readPages<Page extends Pick<ScanCommandOutput, "LastEvaluatedKey" | "ConsumedCapacity">>(
  send: (position: Position) => Promise<Page>,
  pace: AnyPace,
  { name: TableName }: OtherTable,
  from?: Item,
): AsyncGenerator<Page> {
  let ExclusiveStartKey = from;
  do {
    const position: Position = { TableName, ExclusiveStartKey, ReturnConsumedCapacity: "TOTAL" };
    const page = await pace.retry(() => send(position));
    await pace.spend(page.ConsumedCapacity?.CapacityUnits ?? 0);
    yield page;
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}
