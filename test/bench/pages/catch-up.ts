import { leadItem } from "./lead-item.ts";
import { deliver, streamRecord } from "./maintainer.ts";
import { type Call, largestTransaction, metered, readUnits, writeUnits } from "./meter.ts";
import type { Population } from "./population.ts";

/** The most records of a batch of the stream. */
const batchSize = 1000;

/** The most batches that are handed over: those after the first are much alike. */
const mostBatches = 100;

/** What calls of the maintainer cost together. */
export interface CatchingUp {
  readonly calls: number;
  readonly seconds: number;
  readonly read: number;
  readonly write: number;
  readonly largestTransaction: number;
}

/**
 * Hands the leads of an account to the maintainer, which has seen none of them, as the stream does: the oldest first.
 *
 * @returns what the first call cost, which counts all, and what those after it did, which find all counted
 */
export async function catchUp(population: Population): Promise<{ first: CatchingUp; others: CatchingUp }> {
  const rows = population.matching({});
  const calls: { calls: readonly Call[]; milliseconds: number }[] = [];
  const end = Math.min(rows.length, mostBatches * batchSize);
  for (let from = 0; from < end; from += batchSize) {
    const batch = rows.slice(from, from + batchSize);
    const records = batch.map((row) => streamRecord(undefined, leadItem(population.account, row)));
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
