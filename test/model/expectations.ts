import assert from "node:assert/strict";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { listPartition } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import type { Actors, Program } from "./actors.ts";
import { pageSize, type ReadPage, reader } from "./programs.ts";
import type { Slack } from "./reading.ts";
import { account, startTime } from "./scenario.ts";
import type { TableState, Tables } from "./tables.ts";
import { checkLeaves, checkSums } from "./tree-check.ts";

/** The pages of the unfiltered list that are read in every state. */
const watchedPages = [1, 2];

const statuses = [undefined, "new", "booked"] as const;
const sources = [undefined, "a", "b", "c"];

/** What lists and trees must be like in a state of the table, by running readers to their ends in it. */
export class Expectations {
  readonly #tables: Tables;
  readonly #actors: Actors;
  readonly #rows = new Map<TableState, readonly Item[]>();
  readonly #pages = new Map<TableState, Promise<readonly (ReadPage | "busy")[]>>();
  readonly #exact = new Map<TableState, Promise<void>>();

  constructor(tables: Tables, actors: Actors) {
    this.#tables = tables;
    this.#actors = actors;
  }

  /** The rows, newest first. */
  rows(table: TableState): readonly Item[] {
    let rows = this.#rows.get(table);
    if (!rows) {
      const partition = listPartition("lead", account);
      rows = this.#tables
        .items(table)
        .filter(({ pk }) => pk === partition)
        .reverse();
      this.#rows.set(table, rows);
    }
    return rows;
  }

  /**
   * Checks the unfiltered list: its total is exact, except for open changes.
   *
   * @param quiet whether nothing runs, so that readers must be answered
   */
  async checkTotal(table: TableState, { imported, deleted }: Slack, quiet: boolean): Promise<void> {
    const rows = this.rows(table);
    let pages = this.#pages.get(table);
    if (!pages) {
      pages = this.#readWatched(table);
      this.#pages.set(table, pages);
    }
    for (const [index, page] of (await pages).entries()) {
      const what = `page ${watchedPages[index]}`;
      if (page === "busy") {
        assert(!quiet, `${what} is not answered`);
        continue;
      }
      const { total, ids } = page;
      const most = rows.length + deleted;
      const least = rows.length - imported;
      assert(total >= least && total <= most, `${what} has the total ${total}, not ${least} to ${most}`);
      if (least === most)
        assert.deepEqual(ids, pageOf(rows, watchedPages[index] ?? 1), `${what} has other rows`);
    }
  }

  /** Checks every page of every filter, and the tree: everything is exact. */
  checkExact(table: TableState): Promise<void> {
    let exact = this.#exact.get(table);
    if (!exact) {
      exact = this.#compare(table);
      this.#exact.set(table, exact);
    }
    return exact;
  }

  /** Runs a program to its end with no other between its calls. @returns the state of the table, and the result */
  async run(program: Program, table: TableState, clock: number) {
    let actor = await this.#actors.start(program, clock);
    while (!actor.end) {
      const [request] = actor.requests;
      if (!request) throw new Error(`${program.name} makes no request.`);
      if (request.command) {
        const result = this.#tables.run(table, request.command, request.number);
        table = result.table;
        actor = await this.#actors.resume(actor, request, result.outcome, clock);
      } else {
        clock = Math.max(clock, request.until ?? clock);
        actor = await this.#actors.resume(actor, request, { value: undefined, number: -1 }, clock);
      }
    }
    if ("error" in actor.end) throw actor.end.error;
    return { table, result: actor.end.value };
  }

  async #readWatched(table: TableState) {
    // One transaction changes an entry and the node below it.
    checkSums(this.#tables.items(table));
    const pages: (ReadPage | "busy")[] = [];
    for (const page of watchedPages) pages.push(await this.#read(table, reader(page)));
    return pages;
  }

  async #read(table: TableState, program: Program): Promise<ReadPage | "busy"> {
    try {
      return (await this.run(program, table, startTime)).result as ReadPage;
    } catch (error) {
      if (isBusy(error)) return "busy";
      throw error;
    }
  }

  async #compare(table: TableState): Promise<void> {
    for (const status of statuses) {
      for (const source of sources) {
        const rows = this.rows(table)
          .filter((row) => status === undefined || row.status === status)
          .filter((row) => source === undefined || row.source === source);
        for (let page = 1; page <= Math.ceil(rows.length / pageSize) + 1; page++) {
          const filter = { ...(status && { status }), ...(source && { source }) };
          const read = await this.#read(table, reader(page, filter));
          const expected = { total: rows.length, ids: pageOf(rows, page) };
          assert.deepEqual(read, expected, `page ${page} of ${JSON.stringify(filter)}`);
        }
      }
    }
    checkLeaves(this.#tables.items(table), this.rows(table));
  }
}

const pageOf = (rows: readonly Item[], page: number) =>
  rows.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id);
