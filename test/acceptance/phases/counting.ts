import { errorMessage } from "../../../lib/user-error.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { leads, unique } from "../../contract/account.ts";
import { spread } from "../../support/cases/statistics.ts";
import { assumption, compared } from "../finding.ts";
import { type Acceptance, type Phase, poll, settle } from "../phase.ts";

/** How many leads are created in a second. */
const rate = 50;

/** How long after the last row the counts may take to include all rows, in seconds. */
export const countedWithin = 30;

/** How long an index may take to list a row, in milliseconds. */
const indexWithin = 1000;

/** Checks totals while many leads are created, and how soon all leads are counted and listed. */
export const counting: Phase = {
  name: "counting",
  async *run(acceptance) {
    const { load, signal } = acceptance;
    const { wrong, lists, failed } = await createUnderLists(acceptance);
    const check = `Lists while ${load} leads were created at ${rate} a second`;
    const seen = wrong[0] ?? `exact totals, of ${lists} lists`;
    yield compared(assumption("exact-totals", check, "exact totals"), seen, wrong.length === 0);
    const all = `${load} leads at ${rate} a second, and their lists`;
    yield compared(assumption("exact-totals", all, "all succeed"), failed ?? "all succeed");
    const end = performance.now();
    const counted = await poll(acceptance, { every: 500, atMost: 60_000 }, async () =>
      (await isCounted(acceptance)) ? (performance.now() - end) / 1000 : undefined,
    );
    yield compared(
      assumption("counting-lag", "Counting after the last lead", `at most ${countedWithin} s`),
      counted === undefined ? "not within a minute" : `${counted.toFixed(1)} s`,
      counted !== undefined && counted <= countedWithin,
    );
    signal.throwIfAborted();
    const lag = await indexLag(acceptance);
    const { median, worst } = spread(lag);
    yield compared(
      assumption("index-lag", "A filtered list after a write", `within ${indexWithin / 1000} s, normally`),
      `${Math.round(median)} ms (median of ${lag.length}), ${Math.round(worst)} ms at most`,
      median <= indexWithin,
    );
  },
};

/**
 * Creates leads at the rate, and compares the total of all leads with the numbers known before and after each list. It ends
 * with the first request that fails or has no response.
 */
async function createUnderLists({ mine, load, wait, signal }: Acceptance) {
  const source = unique("load");
  const before = await mine.count(leads);
  const wrong: string[] = [];
  const all: Promise<void>[] = [];
  let [created, lists] = [0, 0];
  let failed: string | undefined;
  const fail = (error: unknown) => {
    signal.throwIfAborted();
    failed ??= errorMessage(error);
  };
  const create = () =>
    mine.createLead({ source }).then(() => {
      created++;
    }, fail);
  const compareTotal = async () => {
    const least = before + created;
    const total = await mine.count(leads, { limit: 1 }).catch(fail);
    if (total === undefined) return;
    lists++;
    // A request without a response may have created its lead.
    const most = before + all.length;
    if (total < least || total > most) wrong.push(`a total of ${total}, not ${least} to ${most}`);
  };
  try {
    for (const start = performance.now(); all.length < load && failed === undefined; ) {
      const due = Math.min(load, Math.ceil((rate * (performance.now() - start)) / 1000));
      while (all.length < due) all.push(create());
      await Promise.all([compareTotal(), wait(100)]);
    }
  } finally {
    await settle(all);
  }
  await compareTotal();
  return { wrong, lists, failed };
}

/** Whether no more leads are uncounted than may stay in the tail, which lists read with each page. */
async function isCounted({ accounts }: Acceptance): Promise<boolean> {
  const { mine, pace } = accounts;
  const owner = { account: mine, list: countedLists.lead };
  const root = await pace.retry(() => readRoot(owner));
  const bounds = { start: root?.watermark ?? "", maxRows: limits.tail + 1 };
  const { rows } = await pace.retry(() => readRows(owner, bounds));
  return rows.length <= limits.tail;
}

/** How long after their creation some leads appear in the lists of their sources, in milliseconds. */
async function indexLag(acceptance: Acceptance): Promise<number[]> {
  const { mine } = acceptance;
  const times: number[] = [];
  while (times.length < 20) {
    const source = unique("lag");
    await mine.createLead({ source });
    const start = performance.now();
    const time = await poll(acceptance, { every: 50, atMost: 10_000 }, async () =>
      (await mine.count(leads, { source })) === 1 ? performance.now() - start : undefined,
    );
    times.push(time ?? Number.POSITIVE_INFINITY);
  }
  return times;
}
