import { install } from "./runtime.ts";
import { mayBeDamaged, type Scenario } from "./scenario.ts";
import type { State } from "./state.ts";
import { worldOf } from "./world.ts";

/** A state that has been reached, with the step that first led to it. */
interface Reached {
  readonly from: number;
  readonly label: string;
}

/**
 * Explores every course of a scenario.
 *
 * @returns the numbers of its states and of the steps between them
 * @throws Error with the shortest course to a state that is wrong
 */
export async function explore(scenario: Scenario) {
  using _ = install(mayBeDamaged(scenario));
  const world = worldOf(scenario);
  const reached: Reached[] = [];
  const known = new Set<string>();
  let found: [number, State][] = [];
  const reach = (state: State, from: number, label: string) => {
    const key = world.key(state);
    if (known.has(key)) return;
    const number = reached.push({ from, label }) - 1;
    known.add(key);
    found.push([number, state]);
  };
  let taken = 0;
  reach(await world.start(), -1, "start");
  while (found.length > 0) {
    const frontier = found;
    found = [];
    for (const [number, state] of frontier) {
      await blaming(reached, number, undefined, () => world.check(state));
      const steps = world.steps(state);
      if (steps.length === 0 && !world.isEnd(state))
        throw new Error(`Nothing can happen:\n${course(reached, number)}`);
      for (const { label, take } of steps) {
        const next = await blaming(reached, number, label, take);
        reach(next, number, label);
        taken++;
      }
    }
  }
  return { states: reached.length, steps: taken };
}

/** Adds the course to the error of a step or of a state. */
async function blaming<T>(
  reached: readonly Reached[],
  number: number,
  label: string | undefined,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const steps = [course(reached, number), label].filter(Boolean).join("\n");
    throw new Error(`${error instanceof Error ? error.message : error}\n${steps}`, { cause: error });
  }
}

/** The way to a state, one step per line. */
function course(reached: readonly Reached[], number: number): string {
  const { from = -1, label = "" } = reached[number] ?? {};
  return from < 0 ? label : `${course(reached, from)}\n${label}`;
}
