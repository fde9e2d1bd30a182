import type { VirtualClock } from "./virtual-clock.ts";

/** What became of a command. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** How often a command is examined, in milliseconds. */
const step = 100;

/**
 * Runs everything on a clock until a command ends.
 *
 * @param mostSeconds how long it may take
 * @returns undefined if it has not ended
 */
export async function runToEnd<T>(
  clock: VirtualClock,
  command: Promise<T>,
  mostSeconds: number,
): Promise<Outcome<T> | undefined> {
  let outcome: Outcome<T> | undefined;
  command.then(
    (value) => {
      outcome = { value };
    },
    (error: unknown) => {
      outcome = { error };
    },
  );
  const end = clock.now + mostSeconds * 1000;
  while (!outcome && clock.now < end) await clock.runUntil(clock.now + step);
  return outcome;
}
