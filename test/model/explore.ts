import { install } from "./runtime.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";
import { World } from "./world.ts";

/** The size of a scenario that has been explored. */
export interface Explored {
  readonly states: number;
  readonly tables: number;
  /** How many courses lead from the start to an end, of those that differ in more than the order of constant reads. */
  readonly courses: number;
  /** The steps of the longest course. */
  readonly longest: number;
}

/** A state that has been reached, with the first way to it. */
interface Reached {
  readonly from: number;
  readonly label: string;
  readonly next: number[];
  isEnd: boolean;
}

/** Takes every course of a scenario. @throws Error with the shortest course to a state that must not be */
export async function explore(scenario: Scenario): Promise<Explored> {
  const uninstall = install();
  try {
    return await exploreWorld(new World(scenario));
  } finally {
    uninstall();
  }
}

async function exploreWorld(world: World): Promise<Explored> {
  const reached: Reached[] = [];
  const numbers = new Map<string, number>();
  let frontier: [number, State][] = [];
  const reach = (state: State, from: number, label: string) => {
    const key = world.key(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = reached.push({ from, label, next: [], isEnd: world.isEnd(state) }) - 1;
    numbers.set(key, number);
    found.push([number, state]);
    return number;
  };
  let found = frontier;
  reach(await world.start(), -1, "start");
  while (found.length > 0) {
    frontier = found;
    found = [];
    for (const [number, state] of frontier) {
      await blaming(reached, number, undefined, () => world.check(state));
      const steps = world.steps(state);
      if (steps.length === 0 && !reached[number]?.isEnd)
        throw new Error(`Nothing can happen:\n${course(reached, number)}`);
      for (const { label, take } of steps) {
        const next = await blaming(reached, number, label, take);
        reached[number]?.next.push(reach(next, number, label));
      }
    }
  }
  return { states: reached.length, tables: world.tables, ...measure(reached) };
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

/** The way to a state, a step a line. */
function course(reached: readonly Reached[], number: number): string {
  const { from = -1, label = "" } = reached[number] ?? {};
  return from < 0 ? label : `${course(reached, from)}\n${label}`;
}

/** Counts the courses and the steps of the longest one, from the ends to the start: no course comes to a state twice. */
function measure(reached: readonly Reached[]): Pick<Explored, "courses" | "longest"> {
  const before = reached.map((): number[] => []);
  const open = reached.map(({ next }) => next.length);
  for (const [number, { next }] of reached.entries()) for (const to of next) before[to]?.push(number);
  const courses = reached.map(({ isEnd }) => Number(isEnd));
  const steps = reached.map(() => 0);
  const ready = [...reached.keys()].filter((number) => open[number] === 0);
  for (const to of ready) {
    for (const from of before[to] ?? []) {
      courses[from] = (courses[from] ?? 0) + (courses[to] ?? 0);
      steps[from] = Math.max(steps[from] ?? 0, (steps[to] ?? 0) + 1);
      open[from] = (open[from] ?? 0) - 1;
      if (open[from] === 0) ready.push(from);
    }
  }
  if (ready.length < reached.length) throw new Error("A course comes to a state twice.");
  return { courses: courses[0] ?? 0, longest: steps[0] ?? 0 };
}
