import { type Limits, limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { DamageEvent, Event, Scenario } from "../scenario.ts";

/** Limits with which a tail of one row is counted and fed, and all rows are in the root. */
export const flat: Limits = { ...limits, tail: 0, tailUnits: 0, rowsAtOnce: 20 };

/** Limits with which a few rows are counted only together with a change. They are then in nodes, and so they are fed. */
export const few: Limits = { ...limits, tail: 4, rowsAtOnce: 20, nodeRows: 1 };

/** Limits with which a handful of rows causes nodes, splits and cut commits. */
export const tiny: Limits = {
  ...flat,
  ...{ nodeRows: 2, nodeEntries: 3 },
  ...{ rowsAtOnce: 3, nodesRead: 2, nodesWritten: 2 },
};

/** Like `tiny`, but commits are cut by their number of nodes. */
export const deep: Limits = { ...tiny, rowsAtOnce: 20, nodesWritten: 3 };

export const change = (row: number, status: "booked" | "new" = "booked"): Event => ({
  do: "change",
  row,
  status,
});
export const move = (row: number, source: string): Event => ({ do: "move", row, source });
export const remove = (row: number): Event => ({ do: "delete", row });
/** A route creates a row. */
export const create = (row: number, at = 0): Event => ({ do: "create", row, at: at + row - 20 });
/** Imports a row with an age, in seconds. */
export const insert = (row: number, age: number): Event => ({ do: "import", row, at: -age * 1000 });
/** The clock moves on until new rows have settled. */
export const pass = (time = 6000): Event => ({ do: "pass", time });
/** A part of the tree of a source, or of the list, is lost. */
export const lose = (what: DamageEvent["what"], source?: string): Event => ({ do: "damage", what, source });

/** Makes scenarios with the same settings. */
export const world =
  (shared: Pick<Scenario, "limits" | "maintainers"> & Partial<Scenario>) =>
  (
    name: string,
    initial: Scenario["initial"],
    events: Scenario["events"],
    own: Partial<Scenario> = {},
  ): Scenario => ({ ...shared, name, initial, events, ...own });

/** Row 0 has another source than the others. */
export const sources = ["b", "a", "a", "a", "a"];

/** Scenarios of lists with label trees, and those that are explored only at night. */
export const run = world({ limits: flat, sources, maintainers: [0, 0] });
export const large = world({ large: true, limits: flat, sources, maintainers: [0, 0] });
