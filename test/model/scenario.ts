import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import type { RowFilter } from "./rows.ts";

/** The time at which every scenario starts, in milliseconds since the epoch. */
export const startTime = Date.UTC(2026, 0, 1);

/** How long before the start the initial rows were counted, in milliseconds. Rows younger than 14.5 s are the tail. */
export const countedAgo = 11_750;

/** How long after the creation of the id a write of a route may land, in milliseconds. */
export const landsWithin = 2500;

/** An event that writes a row. */
export type WriteEvent =
  /** A route writes a row whose id was created `at` milliseconds after the start; an import can write an older row. */
  | { readonly do: "create" | "import"; readonly row: number; readonly at: number }
  | { readonly do: "delete"; readonly row: number }
  | { readonly do: "change"; readonly row: number; readonly status: Lead["status"] }
  /** A row gets another source. */
  | { readonly do: "move"; readonly row: number; readonly source: string };

/** The root or a node of a tree is lost. */
export interface DamageEvent {
  readonly do: "damage";
  readonly what: "root" | "node";
  /** The source of the tree; without a source, it is the tree of the list. */
  readonly source?: string | undefined;
}

/** A step of the world around the actors. */
export type Event =
  | WriteEvent
  | DamageEvent
  /** The clock moves on, by a time in milliseconds. */
  | { readonly do: "pass"; readonly time: number };

/** A small world. Every possible course of its events is explored. */
export interface Scenario {
  readonly name: string;
  /** Whether it takes so long that it is explored only at night. */
  readonly large?: boolean;
  readonly limits: Limits;
  /** The sources of rows, by row number. All further rows have the first source. Without `sources`, rows have none. */
  readonly sources?: readonly string[];
  /** The ages in seconds of the rows that exist at the start, in groups that were counted one after another. */
  readonly initial: readonly (readonly number[])[];
  /** How far the clock was ahead when the last group was counted, in milliseconds. */
  readonly ahead?: number;
  /** Sequences of events. Events of different sequences happen in any order. */
  readonly events: readonly (readonly Event[])[];
  /** The clock skews of the maintainers that may run at once, in milliseconds. */
  readonly maintainers: readonly number[];
  /** How many single reads may miss a transaction in progress. Such a read shows an item as it was before. */
  readonly torn?: number;
  /** How many maintainers may crash. */
  readonly crashes?: number;
  /** The pages that are read one after another while other steps happen. */
  readonly pages?: readonly number[];
  /** The filter of these pages; by default, the whole list is read. */
  readonly filter?: RowFilter;
}

/** The source with which a row is created. */
export const sourceOf = ({ sources = [] }: Scenario, row: number) => sources[row] ?? sources[0];

/** Whether trees may be damaged. */
export const mayBeDamaged = ({ events }: Scenario) => events.flat().some((event) => event.do === "damage");
