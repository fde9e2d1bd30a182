import { type Bounds, isListed } from "./expected-rows.ts";
import type { ListedRow, ListFilter } from "./row-kind.ts";

/** By how many rows a total may be off. */
export interface Slack {
  backdated: number;
  deleted: number;
}

/** A list that is read while others run. */
interface Watch {
  readonly filter: ListFilter;
  readonly bounds: Bounds;
  readonly slack: Slack;
}

/** The lists that are read while rows change: each may have a row as it was at any time since its start. */
export class Watches {
  readonly #watches = new Set<Watch>();

  /** Widens the bounds and the slack of a list with each change, until the reader ends. */
  start(filter: ListFilter, bounds: Bounds, slack: Slack) {
    const watch = { filter, bounds, slack };
    this.#watches.add(watch);
    return { slack, end: () => this.#watches.delete(watch) };
  }

  /** Notes that a row was written, or deleted. */
  note(id: string, row: ListedRow | undefined, { backdated, deleted }: Slack): void {
    for (const { filter, bounds, slack } of this.#watches) {
      if (row && isListed(row, filter)) bounds.possible.add(id);
      else bounds.certain.delete(id);
      slack.backdated = Math.max(slack.backdated, backdated);
      slack.deleted = Math.max(slack.deleted, deleted);
    }
  }
}
