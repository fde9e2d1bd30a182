import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { publishEvents } from "../shared/domain/publish-events.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/** Time of an invocation that is reserved for its last call, in milliseconds. */
const lastCallTime = 30_000;

/** Publishes the events of new and changed items from the table's stream. */
async function publish({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const failed = await publishEvents(Records, () => context.getRemainingTimeInMillis() < lastCallTime);
  // Lambda retries the batch from this record on; for an empty number, it retries the whole batch.
  const batchItemFailures = failed ? [{ itemIdentifier: failed.dynamodb?.SequenceNumber ?? "" }] : [];
  return { batchItemFailures };
}

export const handler = maskedFailures(publish);
