import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { publishEvents } from "../shared/domain/publish-events.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/** Time of an invocation that is reserved for its last call, in milliseconds. */
const lastCallTime = 30_000;

/** Publishes the events of new and changed items from the table's stream. */
async function publish({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const failed = await publishEvents(Records, () => context.getRemainingTimeInMillis() < lastCallTime);
  // Lambda delivers everything from this record on again, and the whole batch for an empty number.
  const batchItemFailures = failed ? [{ itemIdentifier: failed.dynamodb?.SequenceNumber ?? "" }] : [];
  return { batchItemFailures };
}

export const handler = maskedFailures(publish);
