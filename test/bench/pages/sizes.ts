import { mean } from "../../support/cases/statistics.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import { number } from "../markdown.ts";
import { Account } from "./account.ts";
import { createLead } from "./changes.ts";
import { advanceClock } from "./clock.ts";
import { buildRows, type RowFilter, rareSource, rowItem } from "./lead-rows.ts";
import { leadList, plainList, readList, readPage } from "./read-list.ts";
import { both, type Report } from "./report.ts";

/** Every combination of filters. */
const filters: readonly RowFilter[] = [
  {},
  { status: "new" },
  { source: "website" },
  { status: "booked", source: "partner" },
  { source: rareSource },
];

/** Whether the plot has a list. */
const isPlotted = ({ status, source }: RowFilter) => !status && (!source || source === "website");

/** Reads the lists of accounts with five sources, also while leads wait to be counted. */
export async function measureSizes(report: Report, sizes: readonly number[]): Promise<void> {
  const accounts = [];
  const lists = [];
  for (const leads of sizes) {
    const account = new Account(`leads-${String(leads).padStart(7, "0")}`, buildRows(leads));
    const { read, write } = await account.count();
    const bytes = mean(account.rows.slice(0, 1000).map((row) => itemSize(rowItem(account.name, row))));
    const tree = account.tree();
    report.check("tree, bytes", tree);
    accounts.push({
      leads,
      "bytes a lead": Math.round(bytes),
      ...tree,
      "counting: R": read,
      "counting: W": write,
    });
    const readings = [];
    const isLargest = leads === sizes.at(-1);
    for (const filter of filters) readings.push(await readFilter(report, account, filter, isLargest));
    for (let n = 0; n < 100; n++) {
      advanceClock(1);
      await createLead(account);
    }
    for (const [n, filter] of filters.entries()) {
      const cost = await readList(leadList(account, filter));
      report.check("any list, 100 leads in the tail", cost);
      if (isLargest || isPlotted(filter))
        lists.push({
          ...readings[n],
          "100 in the tail: R": both(cost),
          "100 in the tail: trips": cost.trips,
        });
    }
  }
  report.section(
    "Accounts",
    "Counting is the maintainer's work until all leads are counted, also in the lists of their sources.",
    accounts,
  );
  report.section(
    "Pages",
    "Calls and trips are the most of a page. *100 in the tail*: while 100 leads wait to be counted. A plain query reads the whole list for each page. Of the smaller accounts, all lists are measured, and two are shown.",
    lists,
  );
}

async function readFilter(report: Report, account: Account, filter: RowFilter, isLargest: boolean) {
  const list = leadList(account, filter);
  const cost = await readList(list);
  const { read: plain } = await readPage(plainList(account, filter), 1);
  if (filter.source) report.check("list by source", cost);
  else if (filter.status) report.check("list by status", cost);
  else report.check("whole list", cost);
  const leads = account.rows.length;
  const anyPage = { W: 0, R: cost.worst };
  if (isLargest && list.name === "none") {
    report.request("First page of leads", { W: 0, R: cost.ends[0] ?? Number.NaN });
    report.request(`Any page of ${number(leads)} leads, unfiltered`, anyPage);
  }
  if (isLargest && list.name === "new")
    report.request(`Any page of ${number(leads)} leads, \`status=new\``, anyPage);
  if (isPlotted(filter)) {
    const shown = filter.source ? "one source" : "all leads";
    report.point(`This API, ${shown}`, leads, cost);
    report.point(`Counting rows by reading them, ${shown}`, leads, { median: plain, worst: plain });
  }
  return {
    ...{ leads, filter: list.name, "leads in the list": list.rows.length, R: both(cost) },
    ...{ "first, middle, last": cost.ends.map((units) => number(units)).join(", ") },
    ...{ calls: cost.calls, trips: cost.trips, "plain query: R": plain },
  };
}
