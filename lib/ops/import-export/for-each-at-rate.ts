import { setTimeout } from "node:timers/promises";

/** How fast values are worked on. */
export interface Pace {
  /** How many are begun in a second, at the most. */
  readonly rate: number;
  /** How many are under way at once, at the most. */
  readonly parallel: number;
}

/** Works on each value. When one fails no other is begun; the failure is thrown. */
export async function paced<T>(
  values: AsyncGenerator<T>,
  { rate, parallel }: Pace,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const turn = async () => {
    const now = Date.now();
    const wait = Math.max(0, next - now);
    next = now + wait + 1000 / rate;
    if (wait >= 1) await setTimeout(wait);
  };
  let failed = false;
  const worker = async () => {
    // They share one generator, which ends for all when the loop of one is left; some have a value by then.
    for await (const value of values) {
      await turn();
      if (failed) return;
      await work(value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
