import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { type Item, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import type { Range } from "../../../shared/pages/read/range.ts";
import type { Window } from "../../../shared/pages/read/window.ts";

/** More rows than one call can read: a call ends after 1 MB. */
const rowsPerCall = 100_000;

/** A page and its total by counting all rows: what the counted tree is compared with. */
export async function plainQuery(
  range: Range & { readonly window?: Window },
  { page, limit }: PageRequest,
): Promise<Page<Item>> {
  const offset = (page - 1) * limit;
  const before =
    offset === 0
      ? { count: 0, position: undefined }
      : await readSome(range, { count: offset, select: "COUNT" });
  if (offset > 0 && !before.position) return { data: [], pagination: { page, limit, total: before.count } };
  const rows = await readSome(range, { count: limit, select: "ALL_ATTRIBUTES", after: before.position });
  const rest = rows.position
    ? await readSome(range, { count: Number.POSITIVE_INFINITY, select: "COUNT", after: rows.position })
    : { count: 0 };
  const total = before.count + rows.count + rest.count;
  return { data: rows.items, pagination: { page, limit, total } };
}

interface Reading {
  readonly count: number;
  readonly select: "COUNT" | "ALL_ATTRIBUTES";
  readonly after?: Record<string, unknown> | undefined;
}

async function readSome(
  { index, partition, window = {} }: Parameters<typeof plainQuery>[0],
  { count, select, after }: Reading,
) {
  const { from = " ", before = "~" } = window;
  const read = { count: 0, items: [] as Item[], position: after };
  do {
    const {
      Count = 0,
      Items = [],
      LastEvaluatedKey,
    } = await table.send(
      new QueryCommand({
        TableName: tableName,
        ...(index && { IndexName: index }),
        KeyConditionExpression: "#partition = :partition AND sk BETWEEN :from AND :before",
        ExpressionAttributeNames: { "#partition": index ? indexes[index] : "pk" },
        ExpressionAttributeValues: { ":partition": partition, ":from": from, ":before": before },
        ScanIndexForward: false,
        ConsistentRead: index === undefined,
        Select: select,
        Limit: Math.min(count - read.count, rowsPerCall),
        ExclusiveStartKey: read.position,
      }),
    );
    read.count += Count;
    read.items.push(...Items);
    read.position = LastEvaluatedKey;
  } while (read.position && read.count < count);
  return read;
}
