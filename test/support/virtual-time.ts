import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { onTestFinished, vi } from "vitest";

/**
 * Stops the clock for a test: only waits move it, and they take no time. So a busy machine changes nothing.
 *
 * @returns the lengths of the waits, in milliseconds
 */
export function stopClock(now = Date.now()): readonly number[] {
  const waits: number[] = [];
  vi.useFakeTimers({ toFake: ["Date"], now });
  const waiting = vi.spyOn(timers, "setTimeout").mockImplementation((async (
    milliseconds = 0,
    value?: unknown,
  ) => {
    waits.push(milliseconds);
    vi.setSystemTime(Date.now() + Math.ceil(milliseconds));
    return value;
  }) as typeof timers.setTimeout);
  syncBuiltinESMExports();
  onTestFinished(() => {
    waiting.mockRestore();
    syncBuiltinESMExports();
  });
  return waits;
}
