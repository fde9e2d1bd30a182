import { strictEqual } from "node:assert";
import { listLeads } from "../../../shared/domain/leads.ts";
import { createdAt } from "../../../shared/ids.ts";
import { chooseRange } from "../../../shared/pages/read/choose-index.ts";
import { walk } from "../../../shared/pages/read/row-reader.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { seeded } from "../../support/cases/random.ts";
import { mean } from "../../support/cases/statistics.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import { check } from "../report.ts";
import { Account } from "./account.ts";
import { buildRows, leadItems } from "./lead-rows.ts";
import { advanceClock, metered } from "./metered-table.ts";
import { type List, limit, readList, readPages } from "./read-pages.ts";

const flat = { median: 11, worst: 17, trips: 4 };

/** Every combination of filters, and the most that a page may cost. */
const cases: readonly (readonly [LeadsQuery, typeof flat])[] = [
  [{}, flat],
  [{ status: "new" }, { median: 7, worst: 11, trips: 4 }],
  [{ source: "website" }, flat],
  [{ status: "booked", source: "partner" }, flat],
];

/** How many windows of a list are read, and the most that a page may cost. */
const windows = 60;
const inWindow = { worst: 11, calls: 8, trips: 6 };

/** The leads of an account that a request asks for. */
export const leadList = (
  { name, rows }: Account,
  query: LeadsQuery,
  matching: List["rows"] = rows.filter(
    ({ status, source }) => status === (query.status ?? status) && source === (query.source ?? source),
  ),
): List => ({ rows: matching, read: (request) => listLeads(name, { ...query, ...request }) });

/** Reads the lists of an account: whole, in windows, and while leads wait to be counted. */
export async function measureLists(leads: number) {
  const account = new Account(`leads-${String(leads).padStart(7, "0")}`, buildRows(leads));
  const { R, W } = await account.deliver();
  const tree = account.tree();
  check("tree", tree, { root: 4096, "largest node": 2048 });
  const bytes = mean([...leadItems(account.name, account.rows.slice(0, 1000))].map(itemSize));
  const size = { leads, "bytes a lead": Math.round(bytes), ...tree, "counting: R": R, "counting: W": W };
  const lists = [];
  for (const [query, limits] of cases) {
    const list = Object.values(query).join(" + ") || "none";
    const cells = await readList(leadList(account, query));
    check(`leads, ${list}`, cells, limits);
    const { cells: window } = await readPages(windowPages(account, query));
    check(`leads, window of ${list}`, window, inWindow);
    const ofWindow = { "window: R": window.worst, "window: trips": window.trips };
    const plain = { "reading all: R": await readAll(account, query) };
    lists.push({ query, cells: { leads, list, ...cells, ...ofWindow, ...plain } });
  }
  for (let n = 0; n < 100; n++) {
    advanceClock(1);
    await account.createLead();
  }
  const rows = [];
  for (const { query, cells } of lists) {
    const { worst, trips } = await readList(leadList(account, query));
    check(`leads, 100 in the tail of ${cells.list}`, { trips }, { trips: 5 });
    rows.push({ ...cells, "tail: R": worst, "tail: trips": trips });
  }
  return { size, lists: rows };
}

/** Pages of windows between random rows: the first page and a random one, and the first page of a window without an end. */
function* windowPages(account: Account, query: LeadsQuery): Iterable<[List, number]> {
  const { rows } = leadList(account, query);
  const random = seeded(account.rows.length);
  const upTo = (most: number) => Math.floor(random() * most);
  const timeOf = (index: number) => createdAt(rows[index]?.id ?? "");
  for (let n = 0; n < windows; n++) {
    // A window has half of the rows on average, so that most windows have pages far from their ends.
    const [from, end] = [upTo(rows.length / 2), rows.length - 1 - upTo(rows.length / 2)];
    const times = { createdAfter: timeOf(from), createdBefore: timeOf(end) };
    const closed = leadList(account, { ...query, ...times }, rows.slice(from, end));
    // The first page of this window has rows from the middle of the list.
    yield [closed, 1];
    yield [closed, 1 + upTo(Math.ceil(closed.rows.length / limit))];
    const open = upTo(rows.length);
    yield [leadList(account, { ...query, createdAfter: timeOf(open) }, rows.slice(open)), 1];
  }
}

/** The read units of a list without a tree, whose total is known only when all rows have been read. */
async function readAll(account: Account, query: LeadsQuery): Promise<number> {
  const list = { account: account.name, list: countedLists.lead, ids: undefined, parent: undefined };
  const filter = { status: query.status, label: query.source };
  const { range } = chooseRange({ ...list, filter, window: {}, page: 1, limit: 1 });
  let rows = 0;
  // A million rows are counted, not kept.
  const where = () => {
    rows++;
    return false;
  };
  const { cost } = await metered(() =>
    walk({ ...range, where }, {}, (send) => send({ abortSignal: signal })),
  );
  strictEqual(rows, leadList(account, query).rows.length);
  return cost.R;
}

const { signal } = new AbortController();
