import { setTimeout } from "node:timers/promises";
import { wholeNumber } from "../command/whole-number.ts";

/** The value of `--rate`. */
export const parseRate = wholeNumber(1, 999_999, "A rate is a whole number above 0.");

/**
 * Works on values concurrently, and starts with at most `rate` of them a second, if there is a rate.
 *
 * @throws an error of the work: no other is started after it, and it is thrown when those that were started have ended
 */
export async function forEachAtRate<T>(
  values: AsyncGenerator<T> | ArrayIterator<T>,
  { rate = Number.POSITIVE_INFINITY, parallel }: { readonly rate?: number; readonly parallel: number },
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    // The workers share one iterator. It ends for all of them when one leaves its loop, but others may hold a value.
    for await (const value of values) {
      const now = Date.now();
      const delay = Math.max(0, next - now);
      next = now + delay + 1000 / rate;
      if (delay >= 1) await setTimeout(delay);
      if (failed) return;
      await work(value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: parallel }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}
