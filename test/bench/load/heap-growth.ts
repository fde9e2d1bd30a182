import { mean, sum } from "../pages/statistics.ts";
import type { Endurance, HeapSample } from "./endurance.ts";

/** How the memory of a function's environments went, in bytes. */
export interface HeapGrowth {
  readonly name: string;
  readonly environments: number;
  /** Of all its environments together. */
  readonly together: Growth;
  /** Of the largest one. */
  readonly largest: Growth;
  /** Environments that started after the first tenth. */
  readonly late: number;
}

/** The mean of the second tenth of the samples, when all code is warm, and of the last. */
export interface Growth {
  readonly early: number;
  readonly late: number;
}

/** How the memory of each function's environments went. */
export function heapGrowth({ samples }: Endurance): HeapGrowth[] {
  const names = new Set(samples.flatMap(({ heaps }) => heaps.map(({ name }) => name)));
  return [...names].toSorted().map((name) => growthOf(name, samples));
}

/** How much larger memory was at the end. */
export const ratio = ({ early, late }: Growth) => late / early;

function growthOf(name: string, samples: readonly HeapSample[]): HeapGrowth {
  const own = samples.map(({ heaps }) => heaps.filter((heap) => heap.name === name));
  const used = own.map((heaps) => heaps.map(({ used }) => used));
  const tenth = samples.length / 10;
  const first = new Set(own.slice(0, tenth).flatMap((heaps) => heaps.map(({ thread }) => thread)));
  const all = new Set(own.flatMap((heaps) => heaps.map(({ thread }) => thread)));
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
