import type { Actor } from "./actors.ts";
import type { Reading } from "./reading.ts";
import type { TableState } from "./tables.ts";

/** A maintainer with the changes of its batch: bits of event numbers. */
export interface Working {
  readonly actor: Actor;
  readonly batch: number;
}

/** Rows that indexes may still have. */
export interface Past {
  /** The table with these rows, without trees. */
  readonly rows: TableState;
  /** When the indexes have later ones at last. */
  readonly until: number;
}

/** A state of the table at a time. */
export interface Moment {
  readonly table: TableState;
  readonly clock: number;
  /** The table with the rows that its indexes have, if they are late. */
  readonly late?: TableState | undefined;
}

/** A state of the world. */
export interface State {
  readonly table: TableState;
  readonly clock: number;
  /** How many events of each sequence have happened. */
  readonly events: readonly number[];
  /** The changes that the stream has to deliver: bits of event numbers. */
  readonly pending: number;
  /** The numbers of the records of these and of the changes that are being counted, by event numbers. */
  readonly records: readonly (number | undefined)[];
  /** The oldest first. */
  readonly past: readonly Past[];
  /** When an environment listed the rows. */
  readonly listed: Moment | undefined;
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
  const past = state.past.map(({ rows, until }) => `${rows} ${until}`);
  const environment = `${state.listed?.table} ${state.listed?.clock} ${state.listed?.late}`;
  const more = [state.records, past, environment].join(" ");
  return [
    table,
    clock,
    events,
    pending,
    working,
    rebuild?.number,
    read,
    crashes,
    rebuilds,
    pages,
    more,
  ].join();
}

/** The changes that no maintainer has finished counting. */
export const openEvents = ({ pending, maintainers }: State) =>
  maintainers.reduce((open, it) => open | (it?.batch ?? 0), pending);
