import { atOnce, conversations, leads, pathOf, type Row, unique } from "../account.ts";
import { type Check, type Context, promises, shared } from "../check.ts";
import { eventually, expectMatch, expectResponse } from "../expectations.ts";

/** The leads of one source: five pages of five, the last of which is not full. */
const size = 23;

/** Creates the leads, of a source whose name needs an encoding in a link. */
async function makeLeads({ mine }: Context) {
  const source = `${unique("pages")} a,y&b=ü>`;
  const made = await atOnce(size, (n) => mine.createLead({ source, name: `Lead ${n}` }));
  await eventually(async () => expectMatch("the total", await mine.count(leads, { source }), size));
  return { source, ids: made.map(({ id }) => id).sort() };
}

/** The last page of all rows, whatever the account has: it may be a deep one. */
const hasLastPage =
  (path: string): Check["run"] =>
  async ({ mine }) => {
    const [limit, total] = [3, await mine.count(path)];
    const page = Math.max(1, Math.ceil(total / limit));
    const { data, pagination } = await mine.list(path, { page, limit });
    const rows = total - limit * (page - 1);
    expectMatch(`page ${page}`, { rows: data.length, ...pagination }, { rows, page, limit, total });
    for (const past of [page + 1, 999_999_999]) {
      const after = await mine.list(path, { page: past, limit });
      expectMatch(`page ${past}`, after, { data: [], pagination: { page: past, limit, total } });
    }
  };

export const pageChecks = [
  ...promises("docs/usage.md#pages", {
    "Pages of any limit have each row once, the newest first, and the exact total": async (context) => {
      const { source, ids } = await shared(context, makeLeads);
      for (const limit of [1, 5, 7, 100]) {
        const rows: Row[] = [];
        for (let page = 1; page <= Math.ceil(size / limit); page++) {
          const { data, pagination } = await context.mine.list(leads, { source, page, limit });
          const expected = { rows: Math.min(limit, size - rows.length), page, limit, total: size };
          expectMatch(`page ${page} of ${limit}`, { rows: data.length, ...pagination }, expected);
          rows.push(...data);
        }
        expectMatch(`all pages of ${limit}`, rows.map(({ id }) => id).sort(), ids);
        const order = rows.map(({ createdAt }) => createdAt);
        expectMatch(`the times of pages of ${limit}`, order, order.toSorted().reverse());
      }
    },
    "The last page of all leads has the rest of the exact total, and pages past it are empty":
      hasLastPage(leads),
    "The last page of all conversations has the rest of the exact total, and pages past it are empty":
      hasLastPage(conversations),
    "Following next reads a whole list, with its filters and its limit": async (context) => {
      const { source, ids } = await shared(context, makeLeads);
      const rows: string[] = [];
      let next: string | undefined = pathOf(leads, { source, status: "new", limit: 10 });
      while (next !== undefined && rows.length <= size) {
        const response = await context.mine.get(next);
        rows.push(...expectResponse<{ data: Row[] }>(response, { status: 200 }).data.map(({ id }) => id));
        next = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1];
      }
      expectMatch("the rows of all pages", rows.sort(), ids);
    },
  }),
];
