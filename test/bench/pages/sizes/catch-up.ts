import { type Call, largestTransaction, metered, readUnits, writeUnits } from "../../../support/meter.ts";
import { createdRecord } from "../items.ts";
import { batchSize, deliver } from "../maintainer.ts";
import type { Population } from "../population.ts";
import { chunks } from "../write-rows.ts";

/** The most batches that are delivered: those after the first cost much the same. */
const mostBatches = 100;

/** The total cost of several invocations of the maintainer. */
export interface CatchingUp {
  readonly calls: number;
  readonly seconds: number;
  readonly read: number;
  readonly write: number;
  readonly largestTransaction: number;
}

/**
 * Delivers an account's leads, none of them counted yet, to the maintainer, the oldest first.
 *
 * @returns the cost of the first invocation, which counts all leads, and of the others, which find them counted
 */
export async function catchUp(population: Population): Promise<{ first: CatchingUp; others: CatchingUp }> {
  const calls: { calls: readonly Call[]; milliseconds: number }[] = [];
  for (const batch of chunks(population.matching({}), batchSize).slice(0, mostBatches)) {
    const records = batch.map((row) => createdRecord(population.account, row));
    calls.push(await metered(() => deliver(records)));
  }
  return { first: together(calls.slice(0, 1)), others: together(calls.slice(1)) };
}

function together(metered: readonly { calls: readonly Call[]; milliseconds: number }[]): CatchingUp {
  const calls = metered.flatMap(({ calls }) => calls);
  return {
    calls: metered.length,
    seconds: metered.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000,
    ...{ read: readUnits(calls), write: writeUnits(calls), largestTransaction: largestTransaction(calls) },
  };
}
