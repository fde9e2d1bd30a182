import { Account } from "./account.ts";
import { createLead } from "./changes.ts";
import { advanceClock } from "./clock.ts";
import { buildRows, sourcePicker } from "./lead-rows.ts";
import { type ListCost, leadList, readList } from "./read-list.ts";
import { both, type Report } from "./report.ts";

/** The numbers of sources, each with skewed and with equal shares. */
const shares = [
  ...[1, 16, 200, 10_000].map((sources) => ({ sources, isSkewed: true })),
  ...[16, 200, 10_000].map((sources) => ({ sources, isSkewed: false })),
];

/** How many leads each list gets: more than a feed leaves in the tail. */
const added = 90;

/** The time between two of them, in milliseconds, and the number of those that the stream delivers at once. */
const apart = 100;
const batch = 100;

/** Reads lists of one source in accounts with different numbers of sources, before and after leads are added. */
export async function measureSources(report: Report, sizes: readonly number[]): Promise<void> {
  const rows = [];
  for (const size of sizes) {
    for (const { sources, isSkewed } of shares) {
      const name = `${isSkewed ? "skewed" : "uniform"}-${sources}`;
      const account = new Account(name, buildRows(size, sourcePicker(sources, isSkewed)));
      const counting = await account.count();
      const sampled = sampleSources(account);
      const cost = await readSources(account, sampled);
      report.check("list of one of many sources", cost);
      const growing = sampled.filter((_, index) => index % 2 === 0);
      await addLeads(account, growing);
      const grown = await readSources(account, growing);
      report.check("list of one of many sources, 90 leads added", grown);
      rows.push({
        ...{ leads: size, sources, shares: isSkewed ? "skewed" : "equal", R: both(cost) },
        ...{ trips: cost.trips, "90 added: R": both(grown), "90 added: trips": grown.trips },
        ...{ "counting: R": counting.read, "counting: W": counting.write },
      });
    }
  }
  report.section(
    "Lists of one source",
    "Of some sources of an account, frequent and rare ones, each alone, with status new, and with status booked: the worst median of a list, and the worst page of all. *90 added*: after 90 leads were added to each of half of the sources. Shares are equal, or *skewed*: the nth source has about 1/n of the leads of the first.",
    rows,
  );
}

/** At least eight sources of an account, if it has them: frequent, middling and rare ones. */
function sampleSources({ rows }: Account): readonly string[] {
  const counts = new Map<string, number>();
  for (const { source } of rows) counts.set(source, (counts.get(source) ?? 0) + 1);
  const ranked = [...counts].sort(([, a], [, b]) => b - a).map(([source]) => source);
  const { length } = ranked;
  const places = [1, 2, 8, 16, 17, Math.ceil(length / 2), Math.ceil(length * 0.9), length];
  const ranks = new Set(places.filter((rank) => rank <= length));
  for (let rank = 1; rank <= length && ranks.size < 8; rank++) ranks.add(rank);
  return ranked.filter((_, index) => ranks.has(index + 1));
}

/** The worst of the medians and of the pages of lists of some sources. */
async function readSources(account: Account, sources: readonly string[]) {
  const costs: ListCost[] = [];
  for (const source of sources) {
    for (const query of [{ source }, { source, status: "new" }, { source, status: "booked" }] as const)
      costs.push(await readList(leadList(account, query)));
  }
  const most = (name: keyof ListCost) => Math.max(...costs.map((cost) => cost[name]));
  return { median: most("median"), worst: most("worst"), trips: most("trips") };
}

/** Creates leads of some sources by turns, which the stream delivers to the maintainer. */
async function addLeads(account: Account, sources: readonly string[]): Promise<void> {
  for (let n = 0; n < added * sources.length; n++) {
    advanceClock(apart);
    await createLead(account, sources[n % sources.length]);
    if (account.stream.length === batch) await account.deliver();
  }
  await account.deliver();
}
