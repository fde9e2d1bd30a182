import { type Call, largestTransaction, metered, readUnits, writeUnits } from "../../support/meter.ts";
import { streamRecord } from "../../support/stream-record.ts";
import { rowItem } from "./lead-item.ts";
import { deliver } from "./maintainer.ts";
import type { Population } from "./population.ts";

/** The most records of a stream batch. */
const batchSize = 1000;

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
  const rows = population.matching({});
  const calls: { calls: readonly Call[]; milliseconds: number }[] = [];
  const end = Math.min(rows.length, mostBatches * batchSize);
  for (let from = 0; from < end; from += batchSize) {
    const batch = rows.slice(from, from + batchSize);
    const records = batch.map((row) => streamRecord(undefined, rowItem(population.account, row)));
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
