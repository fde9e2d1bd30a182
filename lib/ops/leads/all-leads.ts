import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { toLead } from "../../../shared/domain/leads.ts";
import { listPartition } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { retryWhileBusy } from "../common/pace.ts";

/** How many leads one call reads, before the filter is applied. */
const pageRows = 1000;

/**
 * Reads all leads of the account in pages, by creation time. Each page is read consistently. Every lead is read once,
 * except leads that are created or deleted in the meantime.
 */
export async function* readAllLeads(
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
    const page = await retryWhileBusy(() => table.send(command));
    yield (page.Items ?? []).map(toLead);
    position = page.LastEvaluatedKey;
  } while (position);
}

function buildFilter(pk: string, filter: object) {
  const conditions = Object.entries(filter).filter(([, value]) => value !== undefined);
  if (conditions.length === 0) return { ExpressionAttributeValues: { ":pk": pk } };
  const values = Object.fromEntries(conditions.map(([name, value]) => [`:${name}`, value]));
  return {
    FilterExpression: conditions.map(([name]) => `#${name} = :${name}`).join(" AND "),
    ExpressionAttributeNames: Object.fromEntries(conditions.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: { ":pk": pk, ...values },
  };
}
