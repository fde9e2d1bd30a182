import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import type { RowChange } from "../maintain/changes.ts";
import { emptyTree } from "../maintain/empty-tree.ts";
import { type Maintenance, maintainList } from "../maintain/maintain-list.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { DamagedTreeError, isStepRetryable, readRoot } from "../tree/tree-store.ts";
import type { Finding } from "./verify.ts";

/**
 * Corrects the trees of a list and of its sublists: sets the rows that differ as they are in the table, and counts damaged
 * trees again.
 *
 * @param findings those of the list
 * @returns whether all is done; false when the time was up
 */
export async function repair(
  list: CountedOwner,
  findings: readonly Finding[],
  maintenance: Maintenance,
): Promise<boolean> {
  const { deadline, wait } = maintenance;
  const retry: Retry = (call) =>
    withRetry(call, { deadline, isRetryable: isStepRetryable, ...(wait && { wait }) });
  for (const { owner, damage } of findings) if (damage) await retry(() => emptyDamaged(owner, damage));
  const changes = findings.flatMap(({ owner, differences, damage }) =>
    damage ? noChange([owner]) : differences.map(({ sk }) => toChange(sk, [owner])),
  );
  return countChanges(list, changes, maintenance);
}

/** Empties a damaged tree, unless a maintainer has. */
async function emptyDamaged(owner: CountedOwner, { message, root }: DamagedTreeError): Promise<void> {
  const now = await readRoot(owner);
  if (now?.generation === root?.generation)
    await emptyTree(owner, new DamagedTreeError(message, now), { retry: (call) => call() });
}

const toChange = (key: string, owners: readonly CountedOwner[]): RowChange => ({
  ...{ key, sequenceNumber: "", kind: "changed" },
  origins: owners.flatMap(({ origin }) => origin ?? []),
});

/** A change of no row, for which a maintainer looks what is to be counted in trees of a list. */
export const noChange = (owners: readonly CountedOwner[]) =>
  owners.slice(0, 1).map(({ list }) => toChange(list.idPrefix, owners));

/** How long it is tried to count anything, in milliseconds. */
const attemptTimeout = 60_000;

/** Counts changes as maintainers do. @returns false when the time was up, or nothing could be counted for a minute */
export async function countChanges(
  list: CountedOwner,
  changes: readonly RowChange[],
  maintenance: Maintenance,
): Promise<boolean> {
  let left = changes;
  do {
    const deadline = Math.min(maintenance.deadline, Date.now() + attemptTimeout);
    const { rest, progress, error } = await maintainList(list, left, { ...maintenance, deadline });
    if (error) throw error;
    if (!progress) return false;
    left = rest;
  } while (left.length > 0 && Date.now() < maintenance.deadline);
  return left.length === 0;
}
