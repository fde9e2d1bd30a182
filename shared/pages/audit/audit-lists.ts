import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { Pace } from "../../dynamodb/pace.ts";
import { scanItems } from "../../dynamodb/read-pages.ts";
import type { Key } from "../../dynamodb/table-client.ts";
import * as logEvents from "../../logging/log-events.ts";
import { loggedError } from "../../logging/logged-error.ts";
import { type CountedOwner, findList } from "../tree/counted-list.ts";
import { dueRound, readProgress, writeProgress } from "./audit-progress.ts";
import { pacedMaintenance, repair } from "./repair.ts";
import { firstKey, verify } from "./verify.ts";

/** The read units used per second: a third of those that a partition key provides, which also serves lists. */
const unitsPerSecond = 1000;

interface Run {
  readonly pace: Pace;
  readonly rowsAtOnce: number | undefined;
  /** Where the next audit continues if this one runs out of time. */
  position: Key | undefined;
  /** How many lists were verified to their end, and how many parts of lists were wrong. */
  verified: number;
  repaired: number;
}

/**
 * Verifies each list that has rows once a week, and repairs the lists that are wrong. It continues where the last audit ran
 * out of time.
 *
 * @param deadline when it must have ended, in milliseconds since the epoch
 * @param rowsAtOnce about how many rows of a list are verified before errors in them are repaired
 * @returns what it has done, and at most how many hours ago any list was verified, except lists that were given up
 */
export async function auditLists(now: number, deadline: number, rowsAtOnce?: number) {
  const pace = new Pace(unitsPerSecond, deadline);
  let progress = await pace.retry(() => readProgress(now));
  const due = dueRound(progress, now);
  const run: Run = { pace, rowsAtOnce, position: due?.position, verified: 0, repaired: 0 };
  try {
    if (due) {
      await auditTable(run);
      progress = { since: due.beganAt };
    }
  } catch (error) {
    // No audit could continue from a position that the table refuses, so the next one begins again.
    const isRefused = error instanceof Error && error.name === "ValidationException";
    progress = { ...progress, round: isRefused ? undefined : due && { ...due, position: run.position } };
    if (!isTimeUp(error, pace)) throw error;
  } finally {
    await writeProgress(progress);
  }
  const { verified, repaired } = run;
  return { verified, repaired, oldest: Math.round((now - progress.since) / 3_600_000) };
}

/** Whether an error means that the time is up. A throttled call is retried until seconds before the deadline. */
const isTimeUp = (error: unknown, { deadline }: Pace) =>
  error instanceof TooExpensiveError || (isBusy(error) && Date.now() > deadline - 10_000);

/** A sort key after those of all rows. */
const lastKey = "~";

async function auditTable(run: Run): Promise<void> {
  const { position: from } = run;
  const keys = { ProjectionExpression: "pk" };
  for await (const { Items = [], LastEvaluatedKey } of scanItems(keys, run.pace, from)) {
    for (const pk of new Set(Items.map(({ pk }) => String(pk)))) {
      const owner = findList(pk);
      if (!owner) continue;
      // A list continues where the last run ended. A verified list may have more rows on the next page of the scan.
      let sk = run.position?.pk === pk ? run.position.sk : firstKey;
      if (sk === lastKey) continue;
      while (sk !== lastKey) {
        run.position = { pk, sk };
        const isFirst = from?.pk === pk && from.sk === sk;
        sk = await auditRows(owner, sk, run, isFirst);
      }
      run.position = { pk, sk };
    }
    // The scan must not go back into a list that was verified.
    if (LastEvaluatedKey && LastEvaluatedKey.pk !== run.position?.pk) run.position = LastEvaluatedKey as Key;
  }
}

/**
 * Verifies rows of a list, and repairs what is wrong with them.
 *
 * @param isFirst whether the run begins with these rows: if its time is not enough for them, no other run's time is
 * @returns where the rows that are left to verify begin
 */
async function auditRows(owner: CountedOwner, start: string, run: Run, isFirst: boolean): Promise<string> {
  const { pace, rowsAtOnce: maxRows } = run;
  const { account, list } = owner;
  try {
    const { findings, next } = await verify(owner, { pace }, { start, maxRows });
    if (findings.length > 0) {
      run.repaired++;
      const rows = findings.reduce((sum, { differences }) => sum + differences.length, 0);
      console.error({ event: logEvents.countsRepaired, account, list: list.type, rows });
    }
    await repair(owner, findings, pacedMaintenance(pace));
    if (next !== undefined) return next;
    run.verified++;
  } catch (error) {
    // The lists behind this one must not wait forever.
    const isGivenUp = isTimeUp(error, pace) ? isFirst : !isBusy(error);
    if (!isGivenUp) throw error;
    console.error({ event: logEvents.countsGivenUp, account, list: list.type, ...loggedError(error) });
  }
  return lastKey;
}
