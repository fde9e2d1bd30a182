import { type Limits, limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import type { RowFilter } from "./rows.ts";

/** The time at which every scenario starts, in milliseconds since the epoch. */
export const startTime = Date.UTC(2026, 0, 1);

/** How long after its id was created a route's write may land, in milliseconds. */
export const landsWithin = 3000;

/** How late an index may be, in milliseconds. */
export const indexLag = limits.indexLateness;

/** An event that writes a row. */
export type WriteEvent =
  /** A route writes a row whose id was created `at` milliseconds after the start, or an import writes an older row. */
  | { readonly do: "create" | "import"; readonly row: number; readonly at: number }
  | { readonly do: "delete"; readonly row: number }
  | { readonly do: "change"; readonly row: number; readonly status: Lead["status"] }
  /** A row gets another source. */
  | { readonly do: "move"; readonly row: number; readonly source: string };

/** A step of the world around the actors. */
export type Event =
  | WriteEvent
  /** An environment lists the first page with each filter, and remembers what it may remember. */
  | { readonly do: "list" }
  /** The clock goes on, in milliseconds. */
  | { readonly do: "pass"; readonly time: number };

/** A small world, of which every course is explored. */
export interface Scenario {
  readonly name: string;
  /** Whether it takes more than a few seconds. */
  readonly large?: boolean;
  readonly limits: Limits;
  /** The sources of the rows, by their numbers; the first one of all others. Without them rows have none. */
  readonly sources?: readonly string[];
  /**
   * Rows that exist at the start, by their ages in seconds, in groups that were counted one after another: ten seconds
   * before the start, but in sublists as soon as the newest row of the group was 40 seconds old.
   */
  readonly initial: readonly (readonly number[])[];
  /** Whether a rebuild has replaced the initial tree. */
  readonly rebuilt?: boolean;
  /** Sequences of events. The events of two sequences come in any order. */
  readonly events: readonly (readonly Event[])[];
  /** How many maintainers may run at once: the skews of their clocks. */
  readonly maintainers: readonly number[];
  /** How many maintainers or rebuilds may crash. */
  readonly crashes?: number;
  /** How many rebuilds may start, each after the end or the crash of the one before. */
  readonly rebuilds?: number;
  /** The pages that are read one after another while the others run. */
  readonly pages?: readonly number[];
  /** The list that they are of: the whole one, unless set. */
  readonly filter?: RowFilter;
}

/** How long before the start a group of initial rows was counted, in milliseconds. */
export const countedAgo = ({ sources }: Scenario, ages: readonly number[]) =>
  1000 * (sources ? Math.max(10, Math.min(...ages) - 40) : 10);

/** The source with which a row is created. */
export const sourceOf = ({ sources = [] }: Scenario, row: number) => sources[row] ?? sources[0];
