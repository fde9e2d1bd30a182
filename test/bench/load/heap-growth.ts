import { mean, sum } from "../../support/statistics.ts";
import type { Endurance } from "./endurance.ts";

/** Compares the memory of each function's environments early and late in a run, in bytes. */
export function heapGrowth({ samples }: Endurance) {
  const names = new Set(samples.flatMap(({ heaps }) => heaps.map(({ name }) => name)));
  return [...names].toSorted().map((name) => measureGrowth(name, samples));
}

export type Growth = ReturnType<typeof growth>;

/** The factor by which memory has grown. */
export const ratio = ({ early, late }: Growth) => late / early;

function measureGrowth(name: string, samples: Endurance["samples"]) {
  const heapsPerSample = samples.map(({ heaps }) => heaps.filter((heap) => heap.name === name));
  const used = heapsPerSample.map((heaps) => heaps.map(({ used }) => used));
  const tenth = samples.length / 10;
  const first = new Set(heapsPerSample.slice(0, tenth).flatMap((heaps) => heaps.map(({ thread }) => thread)));
  const all = new Set(heapsPerSample.flatMap((heaps) => heaps.map(({ thread }) => thread)));
  return {
    name,
    environments: first.size,
    /** All environments together. */
    together: growth(used.map(sum), tenth),
    /** The largest environment. */
    largest: growth(
      used.map((heaps) => Math.max(...heaps)),
      tenth,
    ),
    /** How many environments started after the first tenth. */
    late: all.size - first.size,
  };
}

/** The mean of the second tenth of the samples, when all code is warm, and of the last tenth. */
const growth = (bytes: readonly number[], tenth: number) => ({
  early: mean(bytes.slice(tenth, 2 * tenth)),
  late: mean(bytes.slice(-tenth)),
});
