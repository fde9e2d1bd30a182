import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { readListPartition } from "../../dynamodb/keys.ts";
import { Pace } from "../../dynamodb/pace.ts";
import { scanItems } from "../../dynamodb/read-pages.ts";
import { isBusy } from "../../dynamodb/throttling.ts";
import * as logEvents from "../../logging/log-events.ts";
import { loggedError } from "../../logging/logged-error.ts";
import { type CountedOwner, countedLists } from "../tree/counted-list.ts";
import { dueRound, type Round, readProgress, writeProgress } from "./audit-progress.ts";
import { pacedMaintenance, repair } from "./repair.ts";
import { verify } from "./verify.ts";

/** The read units used per second: a third of those that a partition key provides, which also serves lists. */
const unitsPerSecond = 1000;

/** A run of the audit. */
interface Run {
  readonly pace: Pace;
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  /** About how many rows of a list are verified before what is wrong with them is repaired. */
  readonly rowsAtOnce: number;
  /** The numbers of lists that were verified to their end, and of parts of lists that were wrong. */
  readonly done: { verified: number; repaired: number };
}

/**
 * Verifies the lists with rows, each once a week, and repairs those that are wrong. It goes on where the time of the last
 * audit ended.
 *
 * @param deadline when it must have ended, in milliseconds since the epoch
 * @returns what it has done, and how long ago the oldest list was verified, in hours at most
 */
export async function auditLists(now: number, deadline: number, rowsAtOnce = 100_000) {
  const pace = new Pace(unitsPerSecond, deadline);
  const done = { verified: 0, repaired: 0 };
  let progress = await pace.retry(() => readProgress(now));
  const round = dueRound(progress, now);
  try {
    if (round) {
      for await (const reached of auditTable(round, { pace, deadline, rowsAtOnce, done }))
        progress = { ...progress, round: reached };
      progress = { since: round.beganAt };
    }
  } catch (error) {
    // From a position that no scan takes, no audit would go on: the next one begins again.
    if (error instanceof Error && error.name === "ValidationException") progress = { since: progress.since };
    if (!(error instanceof TooExpensiveError)) throw error;
  } finally {
    await writeProgress(progress);
  }
  return { ...done, oldest: Math.round((now - progress.since) / 3_600_000) };
}

/** Audits the lists from where a round is on. @returns where it goes on after each step */
async function* auditTable(round: Round, run: Run): AsyncGenerator<Round> {
  const keys = { ProjectionExpression: "pk" };
  let { page, list } = round;
  for await (const { Items = [], LastEvaluatedKey } of scanItems(keys, run.pace, page)) {
    const pks = [...new Set(Items.map(({ pk }) => String(pk)))];
    for (const pk of pks.slice(Math.max(0, pks.indexOf(list?.pk ?? "")))) {
      const owner = listOf(pk);
      // A partition may continue on the next page.
      let start = pk === list?.pk ? list.start : "";
      while (owner && start !== undefined) {
        start = await auditRows(owner, start, run);
        list = { pk, start };
        yield { ...round, page, list };
      }
    }
    page = LastEvaluatedKey;
    yield { ...round, page, list };
  }
}

function listOf(pk: string): CountedOwner | undefined {
  const { type, account } = readListPartition(pk) ?? {};
  return type && account !== undefined ? { account, list: countedLists[type] } : undefined;
}

/** Verifies rows of a list, and repairs what is wrong with them. @returns where its other rows begin, if there are any */
async function auditRows(owner: CountedOwner, start: string, run: Run): Promise<string | undefined> {
  const { pace, deadline, rowsAtOnce: maxRows, done } = run;
  const line = { account: owner.account, list: owner.list.type };
  try {
    const { findings, next } = await verify(owner, { pace }, { start, maxRows });
    // Without findings, it counts a tail that no change has come for.
    const complete = await repair(owner, findings, pacedMaintenance(pace, deadline));
    if (next === undefined) done.verified++;
    if (findings.length === 0) return next;
    done.repaired++;
    const rows = findings.reduce((sum, { differences }) => sum + differences.length, 0);
    const damaged = findings.filter(({ damage }) => damage).length;
    const repaired = { trees: findings.length, damaged, rows, complete };
    console.error({ event: logEvents.countsRepaired, ...line, ...repaired });
    return next;
  } catch (error) {
    if (isBusy(error)) throw error;
    console.error({ event: logEvents.countsFailed, ...line, ...loggedError(error) });
    return undefined;
  }
}
