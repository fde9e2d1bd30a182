import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { onTestFinished, vi } from "vitest";

/** Replaces the waits of the product's code until the test ends. */
export function replaceWaits(wait: (milliseconds?: number) => Promise<unknown>): void {
  const replaced = vi.spyOn(timers, "setTimeout").mockImplementation(wait as typeof timers.setTimeout);
  syncBuiltinESMExports();
  onTestFinished(() => {
    replaced.mockRestore();
    syncBuiltinESMExports();
  });
}

/**
 * Stops the clock for a test: only waits move the clock, and they take no time. So a busy machine cannot change the result.
 *
 * @returns the lengths of the waits, in milliseconds
 */
export function stopClock(now = Date.now()): readonly number[] {
  const waits: number[] = [];
  vi.useFakeTimers({ toFake: ["Date"], now });
  replaceWaits(async (milliseconds = 0) => {
    waits.push(milliseconds);
    vi.setSystemTime(Date.now() + Math.ceil(milliseconds));
  });
  return waits;
}
