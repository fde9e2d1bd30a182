import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { classify } from "../shared/dynamodb/dynamodb-errors.ts";
import * as logEvents from "../shared/logging/log-events.ts";
import { loggedError } from "../shared/logging/logged-error.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";
import { countedChanges } from "../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../shared/pages/maintain/maintain-lists.ts";

/** Time of an invocation that is reserved for its last commits, in milliseconds. */
const lastCommitsTime = 5000;

/** How long changes that cannot be counted are retried, in milliseconds. Later changes in the stream wait meanwhile. */
const longestFailure = 60_000;

/** Kept for the life of the execution environment. */
const unsettled: Unsettled = new Map();

/** Whether this environment has counted a list, which shows that its code and its role work. */
let hasCounted = false;

/** When the changes of a list first failed, by the sequence number of the first of these changes. */
const failing = new Map<string, number>();

/** More than the number of lists that fail at the same time. */
const maxFailing = 1000;

/** Updates the counts of the lists from the table's stream. */
async function maintainCounts(event: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const deadline = Date.now() + context.getRemainingTimeInMillis() - lastCommitsTime;
  const changes = countedChanges(event.Records);
  const late = changes.flatMap(({ rows }) => rows.flatMap(({ lateness }) => lateness ?? []));
  if (late.length > 0)
    console.warn({ event: logEvents.lateWrites, rows: late.length, latest: Math.max(...late) });
  const unfinished = await maintainLists(changes, { deadline, unsettled });
  hasCounted ||= unfinished.length < changes.length;
  const batchItemFailures = unfinished.flatMap(({ owner, error, sequenceNumbers }) => {
    const { account, list } = owner;
    const line = { account, list: list.type };
    const isInvalid = error !== undefined && classify(error) === "invalid";
    const givesUp = hasCounted && isInvalid && hasFailedLong(sequenceNumbers);
    if (givesUp) console.error({ event: logEvents.countsGivenUp, ...line, ...loggedError(error) });
    else if (error) console.error({ event: logEvents.countsFailed, ...line, ...loggedError(error) });
    else console.warn({ event: logEvents.countsBehind, ...line });
    return givesUp ? [] : sequenceNumbers.map((itemIdentifier) => ({ itemIdentifier }));
  });
  return { batchItemFailures };
}

/** Whether changes have failed for so long that they are given up. */
function hasFailedLong([first]: readonly string[]): boolean {
  // The failed rows belong to an earlier batch, which has ended.
  if (first === undefined) return false;
  if (failing.size >= maxFailing) failing.clear();
  const since = failing.get(first) ?? Date.now();
  failing.set(first, since);
  return Date.now() - since > longestFailure;
}

export const handler = maskedFailures(maintainCounts);
