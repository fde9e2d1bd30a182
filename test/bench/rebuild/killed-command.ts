import type { Outcome } from "./outcome.ts";
import type { Program } from "./program.ts";
import type { World } from "./world.ts";

/** A command that was killed once and run again. Times are in seconds. */
export interface KilledCommand {
  /** After how long it was killed; null if it ended before. */
  readonly killedAfter: number | null;
  /** The share of the rows that it had counted then. */
  readonly share: number;
  /** How long the second run took. */
  readonly seconds: number;
  /** Why the second run failed; null if it did not. */
  readonly failure: string | null;
}

interface KilledRun<T> {
  readonly run: (program: Program) => Promise<T>;
  /** How many rows the account has, and how many the command reads. */
  readonly leads: number;
  readonly reads: number;
  readonly onKilled?: () => Promise<void>;
}

/** Runs a command, kills it when it has counted a random share of the rows, and runs it again a little later. */
export async function runKilled<T>(
  world: World,
  { run, leads, reads, onKilled }: KilledRun<T>,
): Promise<{ readonly command: KilledCommand; readonly value: T | undefined }> {
  const { simulation, random } = world;
  const { clock } = simulation.service;
  const killAt = 0.3 + 0.4 * random();
  const first = world.start();
  const share = () => 1 - (reads - first.rows) / leads;
  const start = clock.now;
  const early = await world.run(run(first), () => share() >= killAt);
  first.kill();
  const killed = { killedAfter: early ? null : world.since(start), share: Math.max(0, share()) };
  await onKilled?.();
  await simulation.run(5 + 55 * random());
  const again = clock.now;
  const outcome = await world.run(run(world.start()));
  return {
    command: { ...killed, seconds: world.since(again), failure: failureOf(outcome) },
    value: outcome && "value" in outcome ? outcome.value : undefined,
  };
}

function failureOf(outcome: Outcome<unknown> | undefined): string | null {
  if (!outcome) return "it did not end";
  if (!("error" in outcome)) return null;
  return outcome.error instanceof Error ? outcome.error.name : "it failed";
}
