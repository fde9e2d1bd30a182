import assert from "node:assert/strict";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { accountPartition } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { pageSize, type ReadPage, reader } from "./programs.ts";
import { isMatch, owner, type RowFilter, rowNumber } from "./rows.ts";
import { type Event, mayBeDamaged, type Scenario, startTime } from "./scenario.ts";
import { openEvents, type State, type Totals } from "./state.ts";
import type { Steps } from "./steps/steps.ts";
import type { TableState } from "./tables.ts";
import { remember } from "./texts.ts";
import { checkTrees } from "./tree-check.ts";

/** The pages of the unfiltered list that are read in every state. */
const watchedPages = [1, 2];

const statuses = [undefined, "new", "booked"] as const;

/** What checks the lists and the trees in a state of the table. To read lists, it runs readers to their end in this state. */
export function expectations({ tables, actors, events }: Steps, scenario: Scenario) {
  const isDamaged = mayBeDamaged(scenario);
  const knownRows = new Map<TableState, readonly Item[]>();
  const knownPages = new Map<TableState, Promise<readonly (ReadPage | "busy")[]>>();
  const knownMarks = new Map<TableState, ReadonlyMap<string, string>>();
  const checkedTrees = new Set<string>();
  const comparisons = new Map<TableState, Promise<void>>();

  const { sources = [] } = scenario;
  const moves = scenario.events.flat().flatMap((event) => (event.do === "move" ? event.source : []));
  const filters = statuses.flatMap((status) =>
    [undefined, ...new Set([...sources, ...moves, "none"])].map(
      (source): RowFilter => ({ ...(status && { status }), ...(source && { source }) }),
    ),
  );

  /** The rows, newest first. */
  const rows = (table: TableState): readonly Item[] =>
    remember(knownRows, table, () => {
      const partition = accountPartition(owner.list.type, owner.account);
      return tables
        .items(table)
        .filter(({ pk }) => pk === partition)
        .reverse();
    });

  async function read(table: TableState, page: number, filter?: RowFilter): Promise<ReadPage | "busy"> {
    try {
      const { result } = await actors.runAlone(reader(page, filter), table, startTime, tables);
      return result as ReadPage;
    } catch (error) {
      if (isBusy(error)) return "busy";
      throw error;
    }
  }

  /** The watermarks of trees, by their partitions and generations. */
  const watermarks = (table: TableState): ReadonlyMap<string, string> =>
    remember(knownMarks, table, () => {
      const roots = tables.items(table).filter(({ sk }) => sk === "root");
      return new Map(roots.map((it) => [`${it.pk} ${it.generation}`, String(it.watermark)]));
    });

  /** The rows that a total must have in a state, and those that it may have. */
  function totals(state: State, filter: RowFilter = {}): Totals {
    const matching = toBits(
      rows(state.table)
        .filter(isMatch(filter))
        .map(({ id }) => rowNumber(String(id))),
    );
    /** The events by which an uncounted total may be wrong. */
    const kinds: readonly Event["do"][] = [
      ...(["import", "delete"] as const),
      ...(filter.status === undefined ? [] : ["change" as const]),
      ...(filter.source === undefined ? [] : ["move" as const]),
    ];
    const open = toBits(events.rows(openEvents(state), kinds));
    return { always: matching & ~open, ever: matching | open };
  }

  async function compare(table: TableState): Promise<void> {
    for (const filter of filters) {
      const matching = rows(table).filter(isMatch(filter));
      for (let page = 1; page <= Math.ceil(matching.length / pageSize) + 1; page++) {
        const found = await read(table, page, filter);
        const expected = { total: matching.length, ids: pageOf(matching, page) };
        if (found !== "busy" || !isDamaged)
          assert.deepEqual(found, expected, `page ${page} of ${JSON.stringify(filter)}`);
      }
    }
  }

  return {
    rows,
    totals,

    /**
     * Checks the unfiltered list: its total is exact, except for open changes.
     *
     * @param quiet whether no maintainer runs, so that readers must be answered
     */
    async checkTotal(state: State, quiet: boolean): Promise<void> {
      const { table } = state;
      const { always, ever } = totals(state);
      const readWatched = () => Array.fromAsync(watchedPages, (page) => read(table, page));
      const pages = await remember(knownPages, table, readWatched);
      for (const [index, page] of pages.entries()) {
        const number = watchedPages[index] ?? 1;
        if (page === "busy") {
          assert(!quiet || isDamaged, `page ${number} is not answered`);
          continue;
        }
        checkTotal(number, page.total, { always, ever });
        if (always === ever)
          assert.deepEqual(page.ids, pageOf(rows(table), number), `page ${number} has other rows`);
      }
    },

    /** Checks the trees, except for rows with open changes. */
    checkTrees(table: TableState, open: ReadonlySet<number>): void {
      const key = `${table} ${[...open].sort()}`;
      if (checkedTrees.has(key)) return;
      checkedTrees.add(key);
      checkTrees({ items: tables.items(table), rows: rows(table), open, isDamaged });
    },

    /** Checks that the watermark of no tree goes back. */
    checkProgress(before: TableState, after: TableState): void {
      if (before === after) return;
      const now = watermarks(after);
      for (const [tree, watermark] of watermarks(before))
        assert((now.get(tree) ?? "~") >= watermark, `the watermark ${watermark} of ${tree} went back`);
    },

    /** Checks every page of every filter, with up-to-date indexes. */
    checkExact: (table: TableState): Promise<void> => remember(comparisons, table, () => compare(table)),
  };
}

export type Expectations = ReturnType<typeof expectations>;

/** Checks the total of a page: it includes every row that it must have, and no row that it may not have. */
export function checkTotal(page: number, total: number, { always, ever }: Totals): void {
  const [least, most] = [countBits(always), countBits(ever)];
  assert(total >= least && total <= most, `page ${page} has the total ${total}, not ${least} to ${most}`);
}

const toBits = (numbers: Iterable<number>) => [...numbers].reduce((bits, number) => bits | (1 << number), 0);

const countBits = (bits: number): number => (bits === 0 ? 0 : (bits & 1) + countBits(bits >>> 1));

const pageOf = (rows: readonly Item[], page: number) =>
  rows.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id);
