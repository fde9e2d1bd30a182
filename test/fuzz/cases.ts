import fc from "fast-check";
import { expect } from "vitest";
import type { RawResponse } from "../support/socket.ts";
import { expectAllStored, type World } from "./world.ts";

/** How many requests a run sends in total, over both suites. */
const cases = Number(process.env.CASES ?? 600);

/** The seed of the failure to repeat. */
const seed = process.env.SEED;

/** How many cases share one world: longer lists would only make listing slow. */
const casesPerWorld = 200;

/** Counts responses by status. */
export class Tally {
  readonly #counts = new Map<number, number>();

  add({ status }: Pick<RawResponse, "status">): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The share of responses with a status in this range. */
  share(from: number, to: number): number {
    const within = [...this.#counts].filter(([status]) => status >= from && status <= to);
    return within.reduce((sum, [, count]) => sum + count, 0) / this.total;
  }

  toString(): string {
    const counts = [...this.#counts].sort(([a], [b]) => a - b);
    return `${this.total} responses (${counts.map(([status, count]) => `${status}: ${count}`).join(", ")})`;
  }
}

/**
 * Runs the suite's half of the cases. A failure names the seed and path that repeat it.
 *
 * @param start creates the world of the next cases
 * @param run sends one case and checks it
 */
export async function fuzz<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  start: () => Promise<World>,
  run: (world: World, value: T, tally: Tally) => Promise<void>,
): Promise<Tally> {
  const tally = new Tally();
  const numRuns = Math.ceil(cases / 2);
  let world: World | undefined;
  let used = 0;
  const property = fc.asyncProperty(arbitrary, async (value) => {
    if (world && used % casesPerWorld === 0) {
      await expectAllStored(world);
      world = undefined;
    }
    world ??= await start();
    used += 1;
    try {
      await run(world, value, tally);
    } catch (error) {
      // The world may not match the table any more: smaller cases must fail in a new one.
      world = undefined;
      throw error;
    }
  });
  await fc.assert(property, { numRuns, ...(seed && { seed: Number(seed) }) });
  if (world) await expectAllStored(world);
  expect(used).toBe(numRuns);
  console.log(`fuzz: ${name}: ${used} cases, ${tally}`);
  return tally;
}
