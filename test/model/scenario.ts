import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import type { RowFilter } from "./rows.ts";

/** The time at which every scenario starts, in milliseconds since the epoch. */
export const startTime = Date.UTC(2026, 0, 1);

/** How long before that the initial rows were counted, in milliseconds: those younger than 14.5 s are the tail. */
export const countedAgo = 11_750;

/** How long after its id was created a route's write may land, in milliseconds. */
export const landsWithin = 2500;

/** An event that writes a row. */
export type WriteEvent =
  /** A route writes a row whose id was created `at` milliseconds after the start, or an import writes an older row. */
  | { readonly do: "create" | "import"; readonly row: number; readonly at: number }
  | { readonly do: "delete"; readonly row: number }
  | { readonly do: "change"; readonly row: number; readonly status: Lead["status"] }
  /** A row gets another source. */
  | { readonly do: "move"; readonly row: number; readonly source: string };

/** The root or a node of a tree is lost. */
export interface DamageEvent {
  readonly do: "damage";
  readonly what: "root" | "node";
  /** The source whose tree it is; without it, that of the list. */
  readonly source?: string | undefined;
}

/** A step of the world around the actors. */
export type Event =
  | WriteEvent
  | DamageEvent
  /** The clock goes on, in milliseconds. */
  | { readonly do: "pass"; readonly time: number };

/** A small world, of which every course is explored. */
export interface Scenario {
  readonly name: string;
  /** Whether it takes so long that only the night explores it. */
  readonly large?: boolean;
  /** Whether it alone notices a kind of fault, so that it always runs. */
  readonly always?: boolean;
  readonly limits: Limits;
  /** The sources of the rows, by their numbers; the first one of all others. Without them rows have none. */
  readonly sources?: readonly string[];
  /** Rows that exist at the start, by their ages in seconds, in groups that were counted one after another. */
  readonly initial: readonly (readonly number[])[];
  /** How far ahead the clock was that counted the last group, in milliseconds. */
  readonly ahead?: number;
  /** Sequences of events. The events of two sequences come in any order. */
  readonly events: readonly (readonly Event[])[];
  /** How many maintainers may run at once: the skews of their clocks. */
  readonly maintainers: readonly number[];
  /** How many single reads may miss a transaction that is in progress, each of which shows its item as it was before. */
  readonly torn?: number;
  /** How many maintainers may crash. */
  readonly crashes?: number;
  /** The pages that are read one after another while the others run. */
  readonly pages?: readonly number[];
  /** The list that they are of: the whole one, unless set. Its index has each row as late as it may. */
  readonly filter?: RowFilter;
}

/** The source with which a row is created. */
export const sourceOf = ({ sources = [] }: Scenario, row: number) => sources[row] ?? sources[0];

/** Whether trees may be damaged. */
export const mayBeDamaged = ({ events }: Scenario) => events.flat().some((event) => event.do === "damage");
