import { setTimeout } from "node:timers/promises";

/** Waits, in milliseconds, but no longer than until the signal comes. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
