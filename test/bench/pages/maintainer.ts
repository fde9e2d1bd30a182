import type { DynamoDBRecord } from "aws-lambda";
import { countedChanges } from "../../../shared/pages/maintain/changes.ts";
import { maintainLists } from "../../../shared/pages/maintain/maintain-lists.ts";
import { advanceClock } from "./clock.ts";

/** The most records of a stream batch. */
export const batchSize = 1000;

/** How long an invocation may work, in milliseconds. */
const invocationTime = 55_000;

const waitOnClock = async (milliseconds: number) => advanceClock(milliseconds);

/** How often the stream delivers a batch again that an invocation did not finish counting. */
const retries = 100;

/** Handles a batch of the stream as the deployed function and its event source do. */
export async function deliver(records: readonly DynamoDBRecord[], wait = waitOnClock): Promise<void> {
  for (let remaining = retries; ; remaining--) {
    const [unfinished] = await maintainLists(countedChanges(records), {
      deadline: Date.now() + invocationTime,
      wait,
    });
    if (!unfinished) return;
    if (remaining === 0) throw unfinished.error ?? new Error("The batch is not counted in time.");
  }
}
