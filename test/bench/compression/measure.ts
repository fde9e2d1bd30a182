import { spread } from "../../support/statistics.ts";

/** Runs something once. */
export type Work = () => unknown;

/** How long one measurement takes at least, in milliseconds: a thread's processor time is counted in steps of one or more. */
const shortest = 60;

/**
 * Measures the processor time of each work in this thread. They take turns, so that changes in the machine's speed affect
 * all.
 *
 * @returns the medians, in microseconds
 */
export async function measure<Key>(works: ReadonlyMap<Key, Work>, rounds: number): Promise<Map<Key, number>> {
  const times = new Map([...works.keys()].map((key) => [key, [] as number[]]));
  // The first round compiles the code.
  for (let round = -1; round < rounds; round++) {
    for (const [key, work] of works) {
      const time = await measureOnce(work);
      if (round >= 0) times.get(key)?.push(time);
    }
  }
  return new Map([...times].map(([key, all]) => [key, spread(all).median]));
}

async function measureOnce(work: Work): Promise<number> {
  const before = process.threadCpuUsage();
  for (let count = 1; ; count++) {
    await work();
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= shortest * 1000) return (user + system) / count;
  }
}
