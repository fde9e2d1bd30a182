import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { createLead } from "../../../../shared/domain/leads.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { type Lead, leadStatuses } from "../../../../shared/schemas/lead-schemas.ts";
import { type Call, metered } from "../../../support/meter.ts";
import { seeded, skewed } from "../../../support/random.ts";
import { advanceClock } from "../clock.ts";
import { changeRecord, details, rowItem } from "../items.ts";
import { sourceShares } from "../leads.ts";
import { batchSize, deliver } from "../maintainer.ts";
import type { Population } from "../population.ts";
import type { LeadRow } from "../rows.ts";
import { type Changes, summarizeWriting, type Writing } from "./write-cost.ts";

/** The time between lone changes, in milliseconds: longer than the allowed lateness. */
const apart = 10_000;

const random = seeded(7);
const anySource = skewed(random, sourceShares);

/** A change: its table calls and its stream records. */
export interface Change {
  readonly calls: readonly Call[];
  readonly records: readonly DynamoDBRecord[];
}

/** Creates a lead as the route does. */
export async function create(population: Population, source: () => string = anySource): Promise<Change> {
  const { account } = population;
  const input = { ...details(String(Math.floor(random() * 1e10)).padStart(10, "0")), source: source() };
  const { result: lead, calls } = await metered(
    () => createLead(account, input, Date.now()) as Promise<Lead>,
  );
  const row = { id: lead.id, status: lead.status, source: input.source };
  population.add(row);
  return { calls, records: [changeRecord(undefined, rowItem(account, row))] };
}

/** Gives a lead of any age another status, as an operator does. */
export async function changeStatus(population: Population): Promise<Change> {
  const { account } = population;
  const before = population.at(Math.floor(random() * population.size));
  const status = leadStatuses.find((status) => status !== before?.status);
  if (!before || !status) throw new Error(`${account} has no lead to change.`);
  const after: LeadRow = { ...before, status };
  const { byStatus, byStatusAndOrigin } = rowItem(account, after);
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
  return { calls, records: [changeRecord(rowItem(account, before), rowItem(account, after))] };
}

/** Makes changes far apart, so that each is counted alone. */
export async function alone(kind: Changes, change: () => Promise<Change>): Promise<Writing> {
  const changes: (readonly Call[])[] = [];
  const maintenance: (readonly Call[])[] = [];
  for (let n = 0; n < kind.count; n++) {
    advanceClock(apart);
    const { calls, records } = await change();
    changes.push(calls);
    maintenance.push((await metered(() => deliver(records))).calls);
  }
  return summarizeWriting(kind, changes, maintenance);
}

/**
 * Makes many changes in a short time. The stream delivers one batch at a time: all that changed while the maintainer
 * handled the batch before.
 */
export async function burst(
  kind: Changes,
  perSecond: number,
  change: () => Promise<Change>,
): Promise<Writing> {
  const changes: (readonly Call[])[] = [];
  const maintenance: (readonly Call[])[] = [];
  const queue: DynamoDBRecord[] = [];
  const makeChanges = async () => {
    for (let n = 0; n < perSecond && changes.length < kind.count; n++) {
      // Changes made while the maintainer waits are not part of its cost.
      const { calls, records } = (await metered(change)).result;
      changes.push(calls);
      queue.push(...records);
      advanceClock(1000 / perSecond);
    }
  };
  const wait = async (milliseconds: number) => {
    const end = Date.now() + milliseconds;
    while (Date.now() < end && changes.length < kind.count) await makeChanges();
    advanceClock(Math.max(0, end - Date.now()));
  };
  while (changes.length < kind.count || queue.length > 0) {
    await makeChanges();
    const batch = queue.splice(0, batchSize);
    maintenance.push((await metered(() => deliver(batch, wait))).calls);
  }
  return summarizeWriting(kind, changes, maintenance);
}
