import { setTimeout } from "node:timers/promises";

/** Waits for a number of milliseconds, or until the signal is aborted. */
export async function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
