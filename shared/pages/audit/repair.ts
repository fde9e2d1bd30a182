import { isBusy } from "../../dynamodb/dynamodb-errors.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import type { RowChange } from "../maintain/changes.ts";
import { emptyTree } from "../maintain/empty-tree.ts";
import { maintainList } from "../maintain/maintain-list.ts";
import type { Maintenance } from "../maintain/maintained-tree.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import type { Rows } from "../tree/rows.ts";
import { limits } from "../tree/tree-limits.ts";
import { DamagedTreeError, isTreeChanged, readRoot } from "../tree/tree-store.ts";
import type { Finding } from "./compare-tree.ts";

/** How far the clock of the machine that runs a command may differ from that of DynamoDB, in milliseconds. */
export const machineTolerance = 1000;

/** The means of a maintainer that works at a pace. It counts rows by so much later as the clock of its machine may be ahead. */
export const pacedMaintenance = (pace: Pace) => ({
  deadline: pace.deadline,
  limits: { ...limits, allowedLateness: limits.allowedLateness + machineTolerance },
  wait: pace.wait,
  paced: (async (call) => {
    const response = await pace.retry(call);
    // Of the items that a call reads by their keys, each costs one or two.
    const { units = 1 } = (response ?? {}) as Partial<Rows>;
    await pace.spend(Array.isArray(response) ? 2 * response.length : units);
    return response;
  }) satisfies Retry as Retry,
});

/**
 * Corrects the trees of a list and of its sublists: sets the rows that differ as they are in the table, and counts damaged
 * trees again, those of all sublists from one reading of the list.
 *
 * @param findings those of the list
 * @returns whether all is done; false when the time was up
 */
export async function repair(
  list: CountedOwner,
  findings: readonly Finding[],
  maintenance: Maintenance,
): Promise<boolean> {
  // One by one, that of the list first: each commits the root of the list.
  for (const { damage } of findings)
    if (damage)
      await withRetry(() => emptyDamaged(damage, maintenance), {
        ...maintenance,
        isRetryable: (error) => isTreeChanged(error) || isBusy(error),
      });
  const changes = findings.flatMap(({ owner, differences, damage }) =>
    damage ? toChange(owner) : differences.map(({ sk }) => toChange(owner, sk)),
  );
  return countChanges(list, changes, maintenance);
}

/** Empties a damaged tree, unless a maintainer has. */
async function emptyDamaged(
  { owner, message, root }: DamagedTreeError,
  { paced = (call) => call() }: Maintenance,
): Promise<void> {
  const means = { retry: paced };
  try {
    const now = await readRoot(owner);
    if (now?.generation === root?.generation)
      await emptyTree(new DamagedTreeError(owner, message, now), means);
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    await emptyTree(error, means);
  }
}

/** The change of a row; without a key, of no row: then a maintainer looks what is to be counted in the tree. */
export const toChange = ({ list, origin }: CountedOwner, key: string = list.idPrefix): RowChange => ({
  ...{ key, sequenceNumber: "", kind: "changed" },
  origins: origin === undefined ? [] : [origin],
});

/** Counts changes as maintainers do. @returns whether all are counted; false when the time was up */
export async function countChanges(
  list: CountedOwner,
  changes: readonly RowChange[],
  maintenance: Maintenance,
): Promise<boolean> {
  const { rest, error } = await maintainList(list, changes, maintenance);
  if (error) throw error;
  return rest.length === 0 && Date.now() < maintenance.deadline;
}
