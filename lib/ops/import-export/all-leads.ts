import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { toLead } from "../../../shared/domain/leads.ts";
import { isTableBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { listPartition } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** How many leads are read at once, before those that the filter leaves out are dropped. */
const pageRows = 1000;

/** How long a page is tried for, in milliseconds, while the table is busy. */
const patience = 60_000;

/**
 * All leads of the account, in pages, by their time of creation. Each is as it was when its page was read
 * (consistently); none comes twice or is missed, but for those created or deleted meanwhile.
 *
 * @throws ApiError `busy`
 */
export async function* allLeads(
  account: string,
  filter: { readonly status?: string; readonly source?: string },
  oldestFirst: boolean,
): AsyncGenerator<Lead[]> {
  const query = {
    TableName: tableName,
    KeyConditionExpression: "pk = :pk",
    ConsistentRead: true,
    ScanIndexForward: oldestFirst,
    Limit: pageRows,
    ...buildFilter(listPartition("lead", account), filter),
  };
  let position: Record<string, unknown> | undefined;
  do {
    const command = new QueryCommand({ ...query, ExclusiveStartKey: position });
    const page = await withRetry(() => table.send(command), {
      deadline: Date.now() + patience,
      isRetryable: isTableBusy,
    });
    yield (page.Items ?? []).map(toLead);
    position = page.LastEvaluatedKey;
  } while (position);
}

function buildFilter(pk: string, filter: object) {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
  const values = Object.fromEntries(wanted.map(([name, value]) => [`:${name}`, value]));
  if (wanted.length === 0) return { ExpressionAttributeValues: { ":pk": pk } };
  return {
    FilterExpression: wanted.map(([name]) => `#${name} = :${name}`).join(" AND "),
    ExpressionAttributeNames: Object.fromEntries(wanted.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: { ":pk": pk, ...values },
  };
}
