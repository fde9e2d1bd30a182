import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import * as logEvents from "../shared/logging/log-events.ts";
import { loggedError } from "../shared/logging/logged-error.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";
import { countedChanges } from "../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../shared/pages/maintain/maintain-lists.ts";

/** Time of an invocation that is reserved for its last commits, in milliseconds. */
const reserve = 5000;

/** Kept for the life of the execution environment. */
const unsettled: Unsettled = new Map();

/** Updates the counts of the lists from the table's stream. */
async function maintainCounts(event: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const deadline = Date.now() + context.getRemainingTimeInMillis() - reserve;
  const unfinished = await maintainLists(countedChanges(event.Records), { deadline, unsettled });
  for (const { owner, error } of unfinished) {
    const { account, list } = owner;
    const line = { account, list: list.type };
    if (error) console.error({ event: logEvents.countsFailed, ...line, ...loggedError(error) });
    else console.warn({ event: logEvents.countsBehind, ...line });
  }
  const batchItemFailures = unfinished.flatMap(({ sequenceNumbers }) =>
    sequenceNumbers.map((itemIdentifier) => ({ itemIdentifier })),
  );
  return { batchItemFailures };
}

export const handler = maskedFailures(maintainCounts);
