import { setTimeout } from "node:timers/promises";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { readListPartition } from "../../dynamodb/keys.ts";
import { withRetry } from "../../dynamodb/retry.ts";
import { type Item, table, tableName } from "../../dynamodb/table-client.ts";
import * as logEvents from "../../logging/log-events.ts";
import { loggedError } from "../../logging/logged-error.ts";
import { type CountedOwner, countedLists } from "../tree/counted-list.ts";
import { repair } from "./repair.ts";
import type { Pace } from "./tree-part.ts";
import { verify } from "./verify.ts";

/** The hours of a week: each has a part of the table. */
const parts = 168;

/** The read units used per second: a third of those that a partition key provides, which also serves lists. */
const unitsPerSecond = 1000;

/** What an audit has done. */
interface Audited {
  /** The lists in its part of the table. */
  readonly lists: number;
  /** Those that were compared to their end. */
  verified: number;
  /** Those that were wrong. */
  repaired: number;
}

interface AuditOptions {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Verifies the lists with rows in one of 168 parts of the table, by the hour of the week, and repairs those that are wrong.
 * So each list is verified once a week, and nothing has to be remembered.
 */
export async function auditLists(
  now: number,
  { deadline, wait = setTimeout }: AuditOptions,
): Promise<Audited> {
  const pace = auditPace(deadline, wait);
  const found = await findLists(Math.floor(now / 3_600_000) % parts, pace);
  const audited = { lists: found.length, verified: 0, repaired: 0 };
  // If the time is too short for all, the next week begins with others.
  for (const owner of found.sort(() => Math.random() - 0.5)) {
    try {
      const findings = await verify(owner, { pace });
      audited.verified += 1;
      // Without findings, it counts a tail that no change has come for.
      const complete = await repair(owner, findings, { deadline, wait });
      if (findings.length === 0) continue;
      audited.repaired += 1;
      const { account, list } = owner;
      const rows = findings.reduce((sum, { differences }) => sum + differences.length, 0);
      const damaged = findings.filter(({ damage }) => damage).length;
      const repaired = { trees: findings.length, damaged, rows, complete };
      console.error({ event: logEvents.countsRepaired, account, list: list.type, ...repaired });
    } catch (error) {
      if (error instanceof TooExpensiveError) break;
      const { account, list } = owner;
      console.error({ event: logEvents.countsFailed, account, list: list.type, ...loggedError(error) });
    }
  }
  return audited;
}

/** Spreads reads over time. It throws when the time is up. */
function auditPace(deadline: number, wait: (milliseconds: number) => Promise<unknown>): Pace {
  let paidAt = 0;
  return {
    wait,
    retry: (call) => withRetry(call, { deadline, isRetryable: isBusy, wait }),
    spend: async (units) => {
      const now = Date.now();
      if (now >= deadline) throw new TooExpensiveError("too_slow", "The time of the audit is up.");
      paidAt = Math.max(paidAt, now) + (1000 * units) / unitsPerSecond;
      if (paidAt - now > 50) await wait(paidAt - now);
    },
  };
}

/** Reads the keys of a part of the table. @returns the lists with rows in it */
async function findLists(Segment: number, pace: Pace): Promise<CountedOwner[]> {
  const partitions = new Set<string>();
  let position: Item | undefined;
  do {
    const scan = new ScanCommand({
      ...{ TableName: tableName, Segment, TotalSegments: parts, ProjectionExpression: "pk" },
      ...{ ExclusiveStartKey: position, ReturnConsumedCapacity: "TOTAL" },
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await pace.retry(() => table.send(scan));
    await pace.spend(ConsumedCapacity?.CapacityUnits ?? 0);
    for (const { pk } of Items) partitions.add(String(pk));
    position = LastEvaluatedKey;
  } while (position);
  return [...partitions].flatMap((pk) => {
    const { type, account } = readListPartition(pk) ?? {};
    return type && account !== undefined ? { account, list: countedLists[type] } : [];
  });
}
