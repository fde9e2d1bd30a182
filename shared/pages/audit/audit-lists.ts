import { isDeepStrictEqual } from "node:util";
import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { readListPartition } from "../../dynamodb/keys.ts";
import { Pace } from "../../dynamodb/pace.ts";
import { scanItems } from "../../dynamodb/read-pages.ts";
import * as logEvents from "../../logging/log-events.ts";
import { loggedError } from "../../logging/logged-error.ts";
import { type CountedOwner, countedLists } from "../tree/counted-list.ts";
import { dueRound, type Round, readProgress, writeProgress } from "./audit-progress.ts";
import { removeLeftovers } from "./leftovers.ts";
import { pacedMaintenance, repair } from "./repair.ts";
import { verify } from "./verify.ts";

/** The read units used per second: a third of those that a partition key provides, which also serves lists. */
const unitsPerSecond = 1000;

/** A run of the audit. */
interface Run {
  readonly pace: Pace;
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
 * @returns what it has done, and how long ago the oldest list was verified that was not given up, in hours at most
 */
export async function auditLists(now: number, deadline: number, rowsAtOnce = 100_000) {
  const pace = new Pace(unitsPerSecond, deadline);
  const done = { verified: 0, repaired: 0 };
  let progress = await pace.retry(() => readProgress(now));
  const round = dueRound(progress, now);
  try {
    if (round) {
      for await (const reached of auditTable(round, { pace, rowsAtOnce, done }))
        progress = { ...progress, round: reached };
      progress = { since: round.beganAt };
    }
  } catch (error) {
    // From a position that no scan takes, no audit would go on: the next one begins again.
    if (error instanceof Error && error.name === "ValidationException") progress = { since: progress.since };
    // A call that the table throttles is repeated until seconds before the deadline.
    const isTimeUp = error instanceof TooExpensiveError || Date.now() > deadline - 10_000;
    if (!isTimeUp || !isBusy(error)) throw error;
    const { round: reached } = progress;
    // It began with these rows, and all its time was not enough: the lists behind them shall not wait for ever.
    if (reached?.list && reached !== round && isDeepStrictEqual(reached.list, round?.list)) {
      progress = { ...progress, round: { ...reached, list: { ...reached.list, start: undefined } } };
      const owner = listOf(reached.list.pk);
      if (owner) giveUp(owner, error);
    }
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
        list = { pk, start };
        yield { ...round, page, list };
        start = await auditRows(owner, start, run);
      }
      if (owner) list = { pk, start };
    }
    page = LastEvaluatedKey;
    // One that is no more there is not what the next page begins with.
    if (list?.start !== undefined) list = undefined;
    yield { ...round, page, list };
  }
}

function listOf(pk: string): CountedOwner | undefined {
  const { type, account } = readListPartition(pk) ?? {};
  return type && account !== undefined ? { account, list: countedLists[type] } : undefined;
}

/** Verifies rows of a list, and repairs what is wrong with them. @returns where its other rows begin, if there are any */
async function auditRows(owner: CountedOwner, start: string, run: Run): Promise<string | undefined> {
  const { pace, rowsAtOnce: maxRows, done } = run;
  const { account, list } = owner;
  try {
    const { findings, next } = await verify(owner, { pace }, { start, maxRows });
    // Without findings, it counts a tail that no change has come for.
    const complete = await repair(owner, findings, pacedMaintenance(pace));
    if (findings.length > 0) {
      done.repaired++;
      const rows = findings.reduce((sum, { differences }) => sum + differences.length, 0);
      const damaged = findings.filter(({ damage }) => damage).length;
      const repaired = { trees: findings.length, damaged, rows, complete };
      console.error({ event: logEvents.countsRepaired, account, list: list.type, ...repaired });
    }
    if (!complete) return start;
    if (next !== undefined) return next;
    await removeUnknown(owner, run);
    done.verified++;
    return undefined;
  } catch (error) {
    if (isBusy(error)) throw error;
    giveUp(owner, error);
    return undefined;
  }
}

/** Removes what no maintainer writes beside the counts of a list, and logs how much it was, also if the time is up. */
async function removeUnknown(owner: CountedOwner, { pace, done }: Run): Promise<void> {
  let removed = 0;
  try {
    await removeLeftovers(owner, pace, (count) => {
      removed += count;
    });
  } finally {
    const { account, list } = owner;
    if (removed > 0) {
      done.repaired++;
      console.error({ event: logEvents.countsRepaired, account, list: list.type, removed });
    }
  }
}

/** Logs that the rest of a list is not verified in this round. */
function giveUp({ account, list }: CountedOwner, error: unknown): void {
  console.error({ event: logEvents.countsGivenUp, account, list: list.type, ...loggedError(error) });
}
