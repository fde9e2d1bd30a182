import type { Actor } from "./actors.ts";
import type { Reading } from "./reading.ts";
import type { TableState } from "./tables.ts";

/** A maintainer with the changes of its batch: bits of event numbers. */
export interface Working {
  readonly actor: Actor;
  readonly batch: number;
}

/** A state of the world. */
export interface State {
  readonly table: TableState;
  readonly clock: number;
  /** How many events of each sequence have happened. */
  readonly events: readonly number[];
  /** The changes that the stream has to deliver: bits of event numbers. */
  readonly pending: number;
  readonly maintainers: readonly (Working | undefined)[];
  readonly rebuild: Actor | undefined;
  readonly reading: Reading | undefined;
  /** How many maintainers and rebuilds have crashed. */
  readonly crashes: number;
  /** How many rebuilds have started. */
  readonly rebuilds: number;
  /** How many pages have been requested. */
  readonly pages: number;
}

/** Identifies a state. Maintainers whose clocks agree may change places. */
export function stateKey(state: State, skews: readonly number[]): string {
  const { table, clock, events, pending, maintainers, rebuild, reading, crashes, rebuilds, pages } = state;
  const working = maintainers.map((it, i) => `${skews[i]} ${it?.actor.number} ${it?.batch}`).sort();
  const { actor, always, ever, imported, deleted } = reading ?? {};
  const read = [actor?.number, always, ever, imported, deleted];
  return [table, clock, events, pending, working, rebuild?.number, read, crashes, rebuilds, pages].join();
}
