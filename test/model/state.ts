import type { Actor } from "./steps/actors.ts";
import type { Outcome, TableState } from "./tables.ts";

/** A running maintainer, and the changes of its batch: bits of event numbers. */
export interface Working {
  readonly actor: Actor;
  readonly batch: number;
}

/** The rows that a total must have, and those that it may have, because changes are not counted yet: bits of their numbers. */
export interface Totals {
  readonly always: number;
  readonly ever: number;
}

/** A page that is being read while other steps happen, and what was true since the start of the read. */
export interface Reading extends Totals {
  readonly actor: Actor;
  readonly page: number;
}

/** A transaction in progress, which single reads may miss. */
export interface Transaction {
  readonly command: object;
  readonly before: TableState;
  /** How many more reads may miss the transaction. */
  readonly misses: number;
}

/** The answer to a transaction, which is on its way to the actor. */
export interface UnderWay {
  /** The name of the actor. */
  readonly actor: string;
  readonly request: string;
  readonly outcome: Outcome;
  readonly transaction: Transaction;
}

/** A state of the world. */
export interface State {
  readonly table: TableState;
  readonly clock: number;
  /** How many events of each sequence have happened. */
  readonly events: readonly number[];
  /** The changes that the stream must still deliver: bits of event numbers. */
  readonly pending: number;
  /** The numbers of the records of pending changes and of changes that are being counted, by event number. */
  readonly records: readonly (number | undefined)[];
  readonly underWay: UnderWay | undefined;
  readonly maintainers: readonly (Working | undefined)[];
  readonly reading: Reading | undefined;
  /** How many maintainers have crashed. */
  readonly crashes: number;
  /** How many pages have been requested. */
  readonly pages: number;
}

/** Identifies a state. Maintainers with equal clocks are interchangeable, unless an answer is on its way to an actor. */
export function stateKey(state: State, skews: readonly number[]): string {
  const { table, clock, events, pending, records, maintainers, reading } = state;
  const working = maintainers.map((it, i) => `${skews[i]} ${it?.actor.number} ${it?.batch}`);
  const { actor, always, ever } = reading ?? {};
  const read = [actor?.number, always, ever];
  const { underWay, crashes, pages } = state;
  if (!underWay) working.sort();
  const { before, misses } = underWay?.transaction ?? {};
  const answer = [underWay?.actor, underWay?.request, underWay?.outcome.number, before, misses];
  return [...[table, clock, events, pending, working, read], ...[answer, crashes, pages, records]].join(" ");
}

/** The changes that no maintainer has finished counting. */
export const openEvents = ({ pending, maintainers }: State) =>
  maintainers.reduce((open, it) => open | (it?.batch ?? 0), pending);
