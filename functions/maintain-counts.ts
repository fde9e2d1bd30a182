import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { countedChanges } from "../shared/pages/changes.ts";
import { maintainLists } from "../shared/pages/maintain.ts";

/** Time of an invocation that is kept back for its last commits, in milliseconds. */
const reserve = 5000;

/** Keeps the counts of the lists up to date with the table's stream. */
export async function handler(event: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const deadline = Date.now() + context.getRemainingTimeInMillis() - reserve;
  const failures = await maintainLists(countedChanges(event.Records), { deadline });
  for (const { changes, error } of failures) {
    const { account, list } = changes.owner;
    const { name, stack } = error instanceof Error ? error : { name: "Error", stack: String(error) };
    console.error({ event: "counts failed", account, list: list.type, name, stack });
  }
  const failed = failures.flatMap(({ changes }) => changes.sequenceNumbers);
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
