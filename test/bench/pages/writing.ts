import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { createLead } from "../../../shared/domain/leads.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type Lead, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { advanceClock } from "./clock.ts";
import { details, leadItem, leadKeys, type Row } from "./lead-item.ts";
import { deliver, streamRecord } from "./maintainer.ts";
import { type Call, metered } from "./meter.ts";
import { type Population, sourceShares } from "./population.ts";
import { seeded, skewed } from "./random.ts";
import { type Changes, type Writing, writingOf } from "./write-cost.ts";

/** The time between lone changes, in milliseconds: longer than rows take to settle. */
const apart = 10_000;

/** The most records of a batch of the stream. */
const batchSize = 1000;

const random = seeded(7);
const source = skewed(random, sourceShares);

/** A change that was made: its calls of the table, and its records in the stream. */
export interface Change {
  readonly calls: readonly Call[];
  readonly records: readonly DynamoDBRecord[];
}

/** Creates a lead as the route does. */
export async function create(population: Population): Promise<Change> {
  const { account } = population;
  const input = { ...details(String(Math.floor(random() * 1e10)).padStart(10, "0")), source: source() };
  const { response: answer, calls } = await metered(
    () => createLead(account, input, Date.now()) as Promise<Lead>,
  );
  const row = { id: answer.id, status: answer.status, source: input.source };
  population.add(row);
  return { calls, records: [streamRecord(undefined, leadItem(account, row))] };
}

/** Gives a lead of any age another status, as an operator does. */
export async function changeStatus(population: Population): Promise<Change> {
  const { account } = population;
  const before = population.at(Math.floor(random() * population.size));
  const status = leadStatuses.find((status) => status !== before?.status);
  if (!before || !status) throw new Error(`${account} has no lead to change.`);
  const after: Row = { ...before, status };
  const { byStatus, byStatusAndOrigin } = leadKeys(account, after);
  const { calls } = await metered(() =>
    table.send(
      new UpdateCommand({
        TableName: tableName,
        Key: leadKey(account, before.id),
        UpdateExpression: "SET #status = :status, byStatus = :byStatus, byStatusAndOrigin = :both",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":status": status, ":byStatus": byStatus, ":both": byStatusAndOrigin },
      }),
    ),
  );
  population.replace(after);
  return { calls, records: [streamRecord(leadItem(account, before), leadItem(account, after))] };
}

/** Makes changes far apart, each counted by itself. */
export async function alone(of: Changes, change: () => Promise<Change>): Promise<Writing> {
  const changes: (readonly Call[])[] = [];
  const maintenance: (readonly Call[])[] = [];
  for (let n = 0; n < of.count; n++) {
    advanceClock(apart);
    const { calls, records } = await change();
    changes.push(calls);
    maintenance.push((await metered(() => deliver(records))).calls);
  }
  return writingOf(of, changes, maintenance);
}

/**
 * Makes many changes in a short time. The stream brings them as it would: one batch at a time, with all that came
 * while the maintainer was at work, or waited, on the one before.
 */
export async function burst(of: Changes, perSecond: number, change: () => Promise<Change>): Promise<Writing> {
  const changes: (readonly Call[])[] = [];
  const maintenance: (readonly Call[])[] = [];
  const queue: DynamoDBRecord[] = [];
  const makeChanges = async () => {
    for (let n = 0; n < perSecond && changes.length < of.count; n++) {
      // A maintainer that waits does not pay for what happens meanwhile.
      const { calls, records } = (await metered(change)).response;
      changes.push(calls);
      queue.push(...records);
      advanceClock(1000 / perSecond);
    }
  };
  const wait = async (milliseconds: number) => {
    const end = Date.now() + milliseconds;
    while (Date.now() < end && changes.length < of.count) await makeChanges();
    advanceClock(Math.max(0, end - Date.now()));
  };
  while (changes.length < of.count || queue.length > 0) {
    await makeChanges();
    const batch = queue.splice(0, batchSize);
    maintenance.push((await metered(() => deliver(batch, wait))).calls);
  }
  return writingOf(of, changes, maintenance);
}
