import { mean, sum } from "../../support/statistics.ts";
import type { Endurance, HeapSample } from "./endurance.ts";

/** The memory of a function's environments over a run, in bytes. */
export interface HeapGrowth {
  readonly name: string;
  readonly environments: number;
  /** All environments together. */
  readonly together: Growth;
  /** The largest environment. */
  readonly largest: Growth;
  /** How many environments started after the first tenth. */
  readonly late: number;
}

/** The mean of the second tenth of the samples, when all code is warm, and of the last tenth. */
export interface Growth {
  readonly early: number;
  readonly late: number;
}

/** Compares the memory of each function's environments early and late in a run. */
export function heapGrowth({ samples }: Endurance): HeapGrowth[] {
  const names = new Set(samples.flatMap(({ heaps }) => heaps.map(({ name }) => name)));
  return [...names].toSorted().map((name) => measureGrowth(name, samples));
}

/** The factor by which memory has grown. */
export const ratio = ({ early, late }: Growth) => late / early;

function measureGrowth(name: string, samples: readonly HeapSample[]): HeapGrowth {
  const heapsPerSample = samples.map(({ heaps }) => heaps.filter((heap) => heap.name === name));
  const used = heapsPerSample.map((heaps) => heaps.map(({ used }) => used));
  const tenth = samples.length / 10;
  const first = new Set(heapsPerSample.slice(0, tenth).flatMap((heaps) => heaps.map(({ thread }) => thread)));
  const all = new Set(heapsPerSample.flatMap((heaps) => heaps.map(({ thread }) => thread)));
  return {
    name,
    environments: first.size,
    together: growth(used.map(sum), tenth),
    largest: growth(
      used.map((heaps) => Math.max(...heaps)),
      tenth,
    ),
    late: all.size - first.size,
  };
}

const growth = (bytes: readonly number[], tenth: number): Growth => ({
  early: mean(bytes.slice(tenth, 2 * tenth)),
  late: mean(bytes.slice(-tenth)),
});
