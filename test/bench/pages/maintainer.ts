import type { DynamoDBRecord } from "aws-lambda";
import { countedChanges } from "../../../shared/pages/maintenance/changes.ts";
import { maintain, maintainLists } from "../../../shared/pages/maintenance/maintain.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { advanceClock } from "./clock.ts";
import { toAttributes } from "./lead-item.ts";

type Image = Readonly<Record<string, unknown>>;

/** How long an invocation has, less what it keeps back, in milliseconds. */
const time = 55_000;

const passTime = async (milliseconds: number) => advanceClock(milliseconds);

/** A record of the table's stream. */
export const streamRecord = (before: Image | undefined, after: Image): DynamoDBRecord => ({
  dynamodb: {
    Keys: toAttributes({ pk: after.pk, sk: after.sk }),
    ...(before && { OldImage: toAttributes(before) }),
    NewImage: toAttributes(after),
    SequenceNumber: "1",
  },
});

/** How often the stream brings a batch again that was not counted to the end in an invocation's time. */
const retries = 10;

/** Does with a batch of the stream what the deployed function and its source do. */
export async function deliver(records: readonly DynamoDBRecord[], wait = passTime): Promise<void> {
  for (let left = retries; ; left--) {
    const failures = await maintainLists(countedChanges(records), { deadline: Date.now() + time, wait });
    const [failure] = failures;
    if (!failure) return;
    if (left === 0) throw failure.error;
  }
}

/** Counts all leads of an account that are old enough. */
export const countLeads = (account: string) =>
  maintain({ account, list: countedLists.lead }, [], { deadline: Date.now() + time, wait: passTime });
