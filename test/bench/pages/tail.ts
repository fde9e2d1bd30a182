import { mean } from "../../support/cases/statistics.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import { Account } from "./account.ts";
import { createLead } from "./changes.ts";
import { buildRows } from "./lead-rows.ts";
import { leadList, readPage } from "./read-list.ts";
import type { Report } from "./report.ts";
import { makeChanges } from "./writes.ts";

/** How long leads are created, and when pages are measured, in seconds. */
const [duration, settled] = [30, 10];

/** Reads the first page while leads are created: it reads those that are not counted yet. */
export async function measureTail(report: Report): Promise<void> {
  const rows = [];
  for (const [perSecond, count] of [
    [50, 1],
    [50, 8],
    [20, 50],
    [50, 50],
  ] as const) {
    const account = new Account("acme", buildRows(5000));
    await account.count();
    const tags = Array.from({ length: count }, (_, n) => String(n).padStart(64, "x"));
    const units: number[] = [];
    await makeChanges(account, { count: duration * perSecond, perSecond }, async () => {
      await createLead(account, { tags });
      units.push((await readPage(leadList(account, {}), 1)).read);
    });
    const R = mean(units.slice(settled * perSecond));
    const leads = [...account.memory.items()].filter(({ pk }) => String(pk).startsWith("LEAD#"));
    rows.push({
      "leads a second": perSecond,
      "bytes a lead": Math.max(...leads.map(itemSize)),
      R: Math.round(R),
      "lists a second": Math.floor(3000 / (R - 1)),
    });
  }
  report.section(
    "First pages while leads are created",
    "The mean of all pages. Of a list, all but one unit are of its leads: a partition key serves 3,000 a second, and so many lists.",
    rows,
  );
}
