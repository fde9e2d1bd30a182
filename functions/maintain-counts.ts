import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { classify } from "../shared/dynamodb/dynamodb-errors.ts";
import * as logEvents from "../shared/logging/log-events.ts";
import { loggedError } from "../shared/logging/logged-error.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";
import { countedChanges, type RowChange } from "../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../shared/pages/maintain/maintain-lists.ts";

/** Time of an invocation that is reserved for its last commits, in milliseconds. */
const lastCommitsTime = 5000;

/**
 * The age from which changes that cannot be counted are given up, in milliseconds: later changes in the stream wait for them.
 * After an outage, changes can be older at their first attempt.
 */
const longestFailure = 60_000;

/** Kept for the life of the execution environment. */
const unsettled: Unsettled = new Map();

/** Whether this environment has counted a list, which shows that its code and its role work. */
let hasCounted = false;

/** Updates the counts of the lists from the table's stream. */
async function maintainCounts(event: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const deadline = Date.now() + context.getRemainingTimeInMillis() - lastCommitsTime;
  const changes = countedChanges(event.Records);
  const late = changes.flatMap(({ rows }) => rows.flatMap(({ lateness }) => lateness ?? []));
  if (late.length > 0)
    console.warn({ event: logEvents.lateWrites, rows: late.length, latest: Math.max(...late) });
  const unfinished = await maintainLists(changes, { deadline, unsettled });
  hasCounted ||= unfinished.length < changes.length;
  const batchItemFailures = unfinished.flatMap(({ owner, rest, error }) => {
    const { account, list } = owner;
    const line = { account, list: list.type };
    const isInvalid = error !== undefined && classify(error) === "invalid";
    const givesUp = hasCounted && isInvalid && areOld(rest);
    if (givesUp) console.error({ event: logEvents.countsGivenUp, ...line, ...loggedError(error) });
    else if (error) console.error({ event: logEvents.countsFailed, ...line, ...loggedError(error) });
    else console.warn({ event: logEvents.countsBehind, ...line });
    return givesUp ? [] : rest.map(({ sequenceNumber }) => ({ itemIdentifier: sequenceNumber }));
  });
  return { batchItemFailures };
}

/** Whether changes are so old that they are given up, by the first of them. Without any, they were of an earlier batch. */
const areOld = ([first]: readonly RowChange[]) =>
  Date.now() - (first?.writtenBefore ?? Number.POSITIVE_INFINITY) > longestFailure;

export const handler = maskedFailures(maintainCounts);
