import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { indexes, leadEmailPartition, leadKey, listPartition } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { forEachAtRate } from "../import-export/for-each-at-rate.ts";
import { retryWhileBusy } from "../retry-while-busy.ts";
import { buildUpdate, updateItem } from "./conditional-update.ts";

/** A lead whose index key is missing. */
interface MissingLead {
  readonly sk: string;
  readonly email: string;
}

/** How many leads are written concurrently. */
const parallel = 32;

/**
 * Lists the leads of an account by their email addresses, also those from before the release with the filter `email`.
 *
 * @param rate the most leads to write per second
 * @param dryRun whether to write nothing
 * @returns how many leads were missing
 */
export async function indexEmails(account: string, rate: number, dryRun = false): Promise<number> {
  let missing = 0;
  await forEachAtRate(missingLeads(account), { rate, parallel }, async ({ sk, email }) => {
    missing++;
    const key = { [indexes["by-parent"]]: leadEmailPartition(account, email) };
    if (!dryRun) await retryWhileBusy(() => updateItem(buildUpdate(leadKey(account, sk), key, { email })));
  });
  return missing;
}

async function* missingLeads(account: string): AsyncGenerator<MissingLead> {
  let position: Record<string, unknown> | undefined;
  do {
    const query = new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk",
      FilterExpression: "attribute_exists(email) AND attribute_not_exists(#key)",
      ProjectionExpression: "sk, email",
      ExpressionAttributeNames: { "#key": indexes["by-parent"] },
      ExpressionAttributeValues: { ":pk": listPartition("lead", account) },
      ConsistentRead: true,
      ExclusiveStartKey: position,
    });
    const { Items = [], LastEvaluatedKey } = await retryWhileBusy(() => table.send(query));
    yield* Items as MissingLead[];
    position = LastEvaluatedKey;
  } while (position);
}
