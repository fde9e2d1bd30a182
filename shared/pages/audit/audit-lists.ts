import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { readListPartition } from "../../dynamodb/keys.ts";
import { Pace } from "../../dynamodb/pace.ts";
import { scanItems } from "../../dynamodb/read-pages.ts";
import type { Key } from "../../dynamodb/table-client.ts";
import * as logEvents from "../../logging/log-events.ts";
import { loggedError } from "../../logging/logged-error.ts";
import { type CountedOwner, countedLists } from "../tree/counted-list.ts";
import { dueRound, endRound, type Round, readProgress, writeProgress } from "./audit-progress.ts";
import type { Finding } from "./compare-tree.ts";
import { removeOrphanedItems } from "./orphaned-items.ts";
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
  const isStored = progress.round !== undefined;
  let round = dueRound(progress, now);
  try {
    if (round) {
      for await (round of auditTable(round, { pace, rowsAtOnce, done })) progress = { ...progress, round };
      progress = endRound(round, isStored);
    }
  } catch (error) {
    // From a position that no scan takes, no audit would go on: the next one begins again.
    if (error instanceof Error && error.name === "ValidationException")
      progress = { ...progress, round: undefined };
    if (!isTimeUp(error, pace)) throw error;
  } finally {
    await writeProgress(progress);
  }
  return { ...done, oldest: Math.round((now - progress.since) / 3_600_000) };
}

/** Whether an error is that the time is up. A call that the table throttles is repeated until seconds before. */
const isTimeUp = (error: unknown, { deadline }: Pace) =>
  error instanceof TooExpensiveError || (isBusy(error) && Date.now() > deadline - 10_000);

/** The sort keys before and after those of all rows. */
const firstKey = " ";
const lastKey = "~";

/** Audits the lists from where a round is on. @returns the round after each step */
async function* auditTable(began: Round, run: Run): AsyncGenerator<Round> {
  let round = began;
  const keys = { ProjectionExpression: "pk" };
  for await (const { Items = [], LastEvaluatedKey } of scanItems(keys, run.pace, began.position)) {
    for (const pk of new Set(Items.map(({ pk }) => String(pk)))) {
      const owner = listOf(pk);
      if (!owner) continue;
      // A list goes on where the last run ended, and may continue on the next page when it was verified.
      let sk = round.position?.pk === pk ? round.position.sk : firstKey;
      while (sk !== lastKey) {
        round = { ...round, position: { pk, sk } };
        yield round;
        const isFirst = began.position?.pk === pk && began.position.sk === sk;
        sk = await auditRows(owner, sk, run, isFirst);
        if (sk === lastKey) round = { ...round, position: { pk, sk }, lists: round.lists + 1 };
      }
    }
    // Not back into a list that was verified.
    if (LastEvaluatedKey && LastEvaluatedKey.pk !== round.position?.pk)
      round = { ...round, position: LastEvaluatedKey as Key };
    yield round;
  }
}

function listOf(pk: string): CountedOwner | undefined {
  const { type, account } = readListPartition(pk) ?? {};
  return type && account !== undefined ? { account, list: countedLists[type] } : undefined;
}

/**
 * Verifies rows of a list, and repairs what is wrong with them.
 *
 * @param isFirst whether the run begins with these rows: if its time is not enough for them, no other's is
 * @returns where the other rows begin that are to be verified
 */
async function auditRows(owner: CountedOwner, start: string, run: Run, isFirst: boolean): Promise<string> {
  const { pace, rowsAtOnce: maxRows, done } = run;
  const { account, list } = owner;
  try {
    const { findings, next } = await verify(owner, { pace }, { start, maxRows });
    await repairFound(owner, findings, run);
    if (next !== undefined) return next;
    await removeOrphaned(owner, run);
    done.verified++;
  } catch (error) {
    // The lists behind them shall not wait for ever.
    const isGivenUp = isTimeUp(error, pace) ? isFirst : !isBusy(error);
    if (!isGivenUp) throw error;
    console.error({ event: logEvents.countsGivenUp, account, list: list.type, ...loggedError(error) });
  }
  return lastKey;
}

/** Repairs what is wrong with rows of a list, and logs how much it was, also if the time is up. */
async function repairFound(
  owner: CountedOwner,
  findings: readonly Finding[],
  { pace, done }: Run,
): Promise<void> {
  let complete = false;
  try {
    await repair(owner, findings, pacedMaintenance(pace));
    complete = true;
  } finally {
    const rows = findings.reduce((sum, { differences }) => sum + differences.length, 0);
    const damaged = findings.filter(({ damage }) => damage).length;
    if (findings.length > 0) logRepaired(owner, { trees: findings.length, damaged, rows, complete }, done);
  }
}

/** Removes orphaned items beside the counts of a list, and logs how many it were, also if the time is up. */
async function removeOrphaned(owner: CountedOwner, { pace, done }: Run): Promise<void> {
  let removed = 0;
  try {
    await removeOrphanedItems(owner, pace, (count) => {
      removed += count;
    });
  } finally {
    if (removed > 0) logRepaired(owner, { removed }, done);
  }
}

function logRepaired({ account, list }: CountedOwner, repaired: object, done: Run["done"]): void {
  done.repaired++;
  console.error({ event: logEvents.countsRepaired, account, list: list.type, ...repaired });
}
