import { metered, readUnits, writeUnits } from "../../support/meter.ts";
import { createdRecord } from "./items.ts";
import { batchSize, deliver } from "./maintainer.ts";
import type { Population } from "./population.ts";

/** What it cost to count an account. */
export interface Counting {
  readonly read: number;
  readonly write: number;
  readonly seconds: number;
}

/** Counts all rows of an account, also in the lists of their sources: delivers the newest of them to the maintainer. */
export async function countAccount(population: Population): Promise<Counting> {
  const records = population
    .matching({})
    .slice(-batchSize)
    .map((row) => createdRecord(population.account, row));
  const { calls, milliseconds } = await metered(() => deliver(records));
  return { read: readUnits(calls), write: writeUnits(calls), seconds: milliseconds / 1000 };
}
