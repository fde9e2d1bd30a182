import assert from "node:assert/strict";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { accountPartition } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { pageSize, type ReadPage, reader } from "./programs.ts";
import { isMatch, owner, type RowFilter } from "./rows.ts";
import { mayBeDamaged, type Scenario, startTime } from "./scenario.ts";
import type { Actors } from "./steps/actors.ts";
import type { Slack } from "./steps/reading.ts";
import type { Steps } from "./steps/steps.ts";
import type { TableState, Tables } from "./tables.ts";
import { remember } from "./texts.ts";
import { checkTrees } from "./tree-check.ts";

/** The pages of the unfiltered list that are read in every state. */
const watchedPages = [1, 2];

const statuses = [undefined, "new", "booked"] as const;

/** Checks the lists and the trees in a state of the table. To read lists, it runs readers to their end in this state. */
export class Expectations {
  readonly #tables: Tables;
  readonly #actors: Actors;
  readonly #filters: readonly RowFilter[];
  readonly #mayBeDamaged: boolean;
  readonly #rows = new Map<TableState, readonly Item[]>();
  readonly #pages = new Map<TableState, Promise<readonly (ReadPage | "busy")[]>>();
  readonly #marks = new Map<TableState, ReadonlyMap<string, string>>();
  readonly #trees = new Set<string>();
  readonly #exact = new Map<TableState, Promise<void>>();

  constructor({ tables, actors }: Steps, scenario: Scenario) {
    this.#tables = tables;
    this.#actors = actors;
    const { sources = [], events } = scenario;
    const moves = events.flat().flatMap((event) => (event.do === "move" ? event.source : []));
    this.#mayBeDamaged = mayBeDamaged(scenario);
    this.#filters = statuses.flatMap((status) =>
      [undefined, ...new Set([...sources, ...moves, "none"])].map((source) => ({
        ...(status && { status }),
        ...(source && { source }),
      })),
    );
  }

  /** The rows, newest first. */
  rows(table: TableState): readonly Item[] {
    const partition = accountPartition(owner.list.type, owner.account);
    return remember(this.#rows, table, () =>
      this.#tables
        .items(table)
        .filter(({ pk }) => pk === partition)
        .reverse(),
    );
  }

  /**
   * Checks the unfiltered list: its total is exact, except for open changes.
   *
   * @param quiet whether no maintainer runs, so that readers must be answered
   */
  async checkTotal(table: TableState, slack: Slack, quiet: boolean): Promise<void> {
    const rows = this.rows(table);
    const pages = await remember(this.#pages, table, () => this.#readWatched(table));
    for (const [index, page] of pages.entries()) {
      const number = watchedPages[index] ?? 1;
      if (page === "busy") assert(!quiet || this.#mayBeDamaged, `page ${number} is not answered`);
      else checkPage(page, rows, slack, number);
    }
  }

  /** Checks the trees, except for rows with open changes. */
  checkTrees(table: TableState, open: ReadonlySet<number>): void {
    const key = `${table} ${[...open].sort()}`;
    if (this.#trees.has(key)) return;
    this.#trees.add(key);
    const items = this.#tables.items(table);
    checkTrees({ items, rows: this.rows(table), open, isDamaged: this.#mayBeDamaged });
  }

  /** Checks that the watermark of no tree goes back. */
  checkProgress(before: TableState, after: TableState): void {
    if (before === after) return;
    const now = this.#watermarks(after);
    for (const [tree, watermark] of this.#watermarks(before))
      assert((now.get(tree) ?? "~") >= watermark, `the watermark ${watermark} of ${tree} went back`);
  }

  /** The watermarks of trees, by their partitions and generations. */
  #watermarks(table: TableState): ReadonlyMap<string, string> {
    return remember(this.#marks, table, () => {
      const roots = this.#tables.items(table).filter(({ sk }) => sk === "root");
      return new Map(roots.map((it) => [`${it.pk} ${it.generation}`, String(it.watermark)]));
    });
  }

  /** Checks every page of every filter, with up-to-date indexes. */
  checkExact(table: TableState): Promise<void> {
    return remember(this.#exact, table, () => this.#compare(table));
  }

  async #readWatched(table: TableState) {
    const pages: (ReadPage | "busy")[] = [];
    for (const page of watchedPages) pages.push(await this.#read(table, page));
    return pages;
  }

  async #read(table: TableState, page: number, filter?: RowFilter): Promise<ReadPage | "busy"> {
    try {
      const program = reader(page, filter);
      const { result } = await this.#actors.runAlone(program, table, startTime, this.#tables);
      return result as ReadPage;
    } catch (error) {
      if (isBusy(error)) return "busy";
      throw error;
    }
  }

  async #compare(table: TableState): Promise<void> {
    for (const filter of this.#filters) {
      const { length } = this.rows(table).filter(isMatch(filter));
      for (let page = 1; page <= Math.ceil(length / pageSize) + 1; page++)
        this.#checkPage(await this.#read(table, page, filter), table, page, filter);
    }
  }

  #checkPage(read: ReadPage | "busy", table: TableState, page: number, filter: RowFilter): void {
    if (read === "busy" && this.#mayBeDamaged) return;
    const rows = this.rows(table).filter(isMatch(filter));
    const expected = { total: rows.length, ids: pageOf(rows, page) };
    assert.deepEqual(read, expected, `page ${page} of ${JSON.stringify(filter)}`);
  }
}

/** Checks a page of the whole list while the total may be off. */
function checkPage({ total, ids }: ReadPage, rows: readonly Item[], slack: Slack, page: number): void {
  const most = rows.length + slack.deleted;
  const least = rows.length - slack.imported;
  assert(total >= least && total <= most, `page ${page} has the total ${total}, not ${least} to ${most}`);
  if (least === most) assert.deepEqual(ids, pageOf(rows, page), `page ${page} has other rows`);
}

const pageOf = (rows: readonly Item[], page: number) =>
  rows.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id);
