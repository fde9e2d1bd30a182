import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { type Pace, readsPerWrite } from "../../dynamodb/pace.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { takeUnits } from "../../dynamodb/table-client.ts";
import type { RowChange } from "../maintain/changes.ts";
import { maintainList } from "../maintain/maintain-list.ts";
import type { Maintenance } from "../maintain/maintained-tree.ts";
import { type CountedOwner, keyAt, latest } from "../tree/counted-list.ts";
import { limits } from "../tree/tree-limits.ts";
import type { Finding } from "./compare-tree.ts";

/** How far the clock of the machine that runs a command may differ from that of DynamoDB, in milliseconds. */
export const machineTolerance = 1000;

/**
 * The settings of a maintainer that works at a pace, and alone in its process. It counts rows later by as much as the clock
 * of its machine may be ahead.
 */
export function pacedMaintenance(pace: Pace) {
  // The units that were consumed before are already paid for.
  takeUnits();
  const retry: Retry = async (call) => {
    const response = await pace.retry(call);
    const { reads, writes } = takeUnits();
    await pace.spend(reads + readsPerWrite * writes);
    return response;
  };
  return {
    deadline: pace.deadline,
    limits: { ...limits, allowedLateness: limits.allowedLateness + machineTolerance },
    wait: pace.wait,
    retry,
  };
}

/**
 * Corrects the trees of a list and of its labels as maintainers do: it sets the rows that differ as they are in the table,
 * and empties a tree when it reads a damaged part. Then it counts the tail, for which no change may ever have arrived.
 *
 * @throws TooExpensiveError when the time is up
 */
export async function repair(list: CountedOwner, findings: readonly Finding[], maintenance: Maintenance) {
  const changes = findings.flatMap(({ owner, differences, damage }) =>
    damage ? toChange(owner, damage.at) : differences.map(({ sk }) => toChange(owner, sk)),
  );
  const { rest, error } = await maintainList(list, changes, maintenance);
  if (error) throw error;
  if (rest.length > 0 || Date.now() >= maintenance.deadline)
    throw new TooExpensiveError("too_slow", "The time is up.");
}

/** The change of a row. Without such a row, it leads a maintainer to the node at the key. */
export const toChange = ({ list, labelKey }: CountedOwner, key: string): RowChange => ({
  // An item cannot have an empty key.
  key: latest(key, keyAt(list, 0)),
  sequenceNumber: "",
  kind: "changed",
  labelKeys: labelKey === undefined ? [] : [labelKey],
});
