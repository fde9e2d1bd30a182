import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { readListPartition } from "../../dynamodb/keys.ts";
import { Pace } from "../../dynamodb/pace.ts";
import { scanItems } from "../../dynamodb/read-pages.ts";
import * as logEvents from "../../logging/log-events.ts";
import { loggedError } from "../../logging/logged-error.ts";
import { type CountedOwner, countedLists } from "../tree/counted-list.ts";
import { repair } from "./repair.ts";
import { verify } from "./verify.ts";

/** The hours of a week: each has a part of the table. */
const parts = 168;

/** The read units used per second: a third of those that a partition key provides, which also serves lists. */
const unitsPerSecond = 1000;

/**
 * Verifies the lists with rows in one of 168 parts of the table, by the hour of the week, and repairs those that are wrong.
 * So each list is verified once a week, and nothing has to be remembered.
 *
 * @param deadline when it must have ended, in milliseconds since the epoch
 * @returns the numbers of lists in its part of the table, of those that were compared to their end, and of the wrong ones
 */
export async function auditLists(now: number, deadline: number) {
  const pace = new Pace(unitsPerSecond, deadline);
  const found = await findLists(Math.floor(now / 3_600_000) % parts, pace);
  const audited = { lists: found.length, verified: 0, repaired: 0 };
  // If the time is too short for all, the next week begins with others.
  for (const owner of found.sort(() => Math.random() - 0.5)) {
    const line = { account: owner.account, list: owner.list.type };
    try {
      const findings = await verify(owner, { pace });
      audited.verified += 1;
      // Without findings, it counts a tail that no change has come for.
      const complete = await repair(owner, findings, { deadline, wait: pace.wait });
      if (findings.length === 0) continue;
      audited.repaired += 1;
      const rows = findings.reduce((sum, { differences }) => sum + differences.length, 0);
      const damaged = findings.filter(({ damage }) => damage).length;
      const repaired = { trees: findings.length, damaged, rows, complete };
      console.error({ event: logEvents.countsRepaired, ...line, ...repaired });
    } catch (error) {
      if (error instanceof TooExpensiveError) break;
      console.error({ event: logEvents.countsFailed, ...line, ...loggedError(error) });
    }
  }
  return audited;
}

/** Reads the keys of a part of the table. @returns the lists with rows in it */
async function findLists(Segment: number, pace: Pace): Promise<CountedOwner[]> {
  const partitions = new Set<string>();
  const keys = { Segment, TotalSegments: parts, ProjectionExpression: "pk" };
  for await (const { Items = [] } of scanItems(keys, pace))
    for (const { pk } of Items) partitions.add(String(pk));
  return [...partitions].flatMap((pk) => {
    const { type, account } = readListPartition(pk) ?? {};
    return type && account !== undefined ? { account, list: countedLists[type] } : [];
  });
}
