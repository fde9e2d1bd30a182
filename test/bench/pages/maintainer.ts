import type { DynamoDBRecord } from "aws-lambda";
import { countedChanges } from "../../../shared/pages/maintenance/changes.ts";
import { maintain, maintainLists } from "../../../shared/pages/maintenance/maintain.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { advanceClock } from "./clock.ts";

/** How long an invocation may work, in milliseconds. */
const invocationTime = 55_000;

const waitOnClock = async (milliseconds: number) => advanceClock(milliseconds);

/** How often the stream retries a batch that an invocation did not finish counting. */
const retries = 10;

/** Handles a batch of the stream as the deployed function and its event source do. */
export async function deliver(records: readonly DynamoDBRecord[], wait = waitOnClock): Promise<void> {
  for (let remaining = retries; ; remaining--) {
    const failures = await maintainLists(countedChanges(records), {
      deadline: Date.now() + invocationTime,
      wait,
    });
    const [failure] = failures;
    if (!failure) return;
    if (remaining === 0) throw failure.error;
  }
}

/** Counts all leads of an account that are older than the allowed lateness. */
export const countLeads = (account: string) =>
  maintain({ account, list: countedLists.lead }, [], {
    deadline: Date.now() + invocationTime,
    wait: waitOnClock,
  });
