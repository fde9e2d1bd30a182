import { sourceOrChannelPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { compareRows } from "../../../shared/pages/audit/compare-tree.ts";
import {
  type CountedList,
  type CountedOwner,
  countedLists,
  latest,
} from "../../../shared/pages/tree/counted-list.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";

/** A row that an import has written. */
interface ImportedRow {
  readonly sk: string;
  /** Its source or channel. */
  readonly of: string | undefined;
}

/** Of how many rows one is looked up. */
const step = 100;

/** How long to wait between two looks, and for how many looks without progress, in milliseconds. */
const lookDelay = 1000;
const mostIdleLooks = 20;

/** The rows of a list that an import has written. The stream delivers them in this order, so that some stand for all. */
class ImportedRows {
  readonly #owner: CountedOwner;
  readonly #some: ImportedRow[] = [];
  /** The newest row of each source or channel. */
  readonly #last = new Map<string | undefined, ImportedRow>();
  #count = 0;
  #newest = "";

  constructor(account: string, list: CountedList) {
    this.#owner = { account, list };
  }

  add(row: ImportedRow): void {
    if (this.#count++ % step === 0) this.#some.push(row);
    this.#last.set(row.of, row);
    this.#newest = latest(this.#newest, row.sk);
  }

  /** Looks which rows are counted. @returns about how many are not */
  async left(pace: Pace): Promise<number> {
    this.#some.push(...this.#last.values());
    this.#last.clear();
    if (this.#some.length === 0) return 0;
    const root = await pace.retry(() => readRoot(this.#owner));
    const { watermark = "", fed = "", unfed = 0, lookAt = limits.sublistRows } = root ?? {};
    const bounds = { start: watermark, end: `${this.#newest}!`, maxRows: limits.tail + 1 };
    const tail = await pace.retry(() => readRows(this.#owner, bounds));
    await pace.spend(1 + tail.units);
    // Then maintainers leave the other rows where they are: lists read them at little cost.
    const isSettled = tail.rows.length <= limits.tail && (unfed < lookAt || fed >= watermark);
    for (let isCounted = true; isCounted && this.#some.length > 0; ) {
      const rows = this.#some.slice(0, step);
      const wrong = await this.#findWrong(rows, fed, pace);
      const first = rows.findIndex(({ sk }) => wrong.has(sk) || (sk >= fed && !isSettled));
      isCounted = first < 0;
      this.#some.splice(0, isCounted ? rows.length : first);
    }
    return Math.min(step * this.#some.length, this.#count);
  }

  /** The sort keys of rows that the list or the list of their source or channel does not count as they are. */
  async #findWrong(rows: readonly ImportedRow[], fed: string, pace: Pace): Promise<ReadonlySet<string>> {
    const { account, list } = this.#owner;
    const byName = Map.groupBy(rows, ({ of }) => of);
    const parts = [[this.#owner, rows] as const];
    for (const [name, rows] of byName)
      if (name !== undefined)
        parts.push([{ account, list, origin: sourceOrChannelPartition(list.type, account, name) }, rows]);
    const wrong = new Set<string>();
    for (const [owner, rows] of parts) {
      const sks = rows.map(({ sk }) => sk);
      const { differences, damage } = await compareRows(owner, sks, fed, pace);
      if (damage) throw damage;
      for (const { sk } of differences) wrong.add(sk);
    }
    return wrong;
  }
}

/** The rows that an import has written, by the type of their list. */
export const importedRows = (account: string) => ({
  lead: new ImportedRows(account, countedLists.lead),
  conversation: new ImportedRows(account, countedLists.conversation),
});

/**
 * Waits until maintainers have counted the rows of an import, as long as they make progress.
 *
 * @returns about how many rows are not counted yet
 */
export async function waitForCounts(
  { lead, conversation }: ReturnType<typeof importedRows>,
  pace: Pace,
): Promise<number> {
  let before = Number.POSITIVE_INFINITY;
  for (let idle = 0; ; idle++) {
    const left = (await lead.left(pace)) + (await conversation.left(pace));
    if (left < before) idle = 0;
    if (left === 0 || idle >= mostIdleLooks) return left;
    before = Math.min(before, left);
    await pace.wait(lookDelay);
  }
}
