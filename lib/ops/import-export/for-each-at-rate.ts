import { setTimeout } from "node:timers/promises";

/** The limits of concurrent work. */
interface Rate {
  /** The most values to start with in one second. */
  readonly rate: number;
  /** The most values to work on concurrently. */
  readonly parallel: number;
}

/** Works on each value. When one fails, no other is started and the error is thrown. */
export async function forEachAtRate<T>(
  values: AsyncGenerator<T>,
  { rate, parallel }: Rate,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const waitForTurn = async () => {
    const now = Date.now();
    const delay = Math.max(0, next - now);
    next = now + delay + 1000 / rate;
    if (delay >= 1) await setTimeout(delay);
  };
  let failed = false;
  const worker = async () => {
    // The workers share one generator. It ends for all of them when one leaves its loop, but others may hold a value.
    for await (const value of values) {
      await waitForTurn();
      if (failed) return;
      await work(value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
