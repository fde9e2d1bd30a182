import { atOnce, conversations, leads, pathOf, type Row, unique } from "../account.ts";
import { type Check, type Context, promises, shared } from "../check.ts";
import type { HttpResponse } from "../client.ts";
import { eventually, expectMatch, expectResponse } from "../expectations.ts";

/** The leads of one source: five pages of five, the last of which is not full. */
const size = 23;

/** Creates the leads, of a source whose name needs an encoding in a link. */
async function makeLeads({ mine }: Context) {
  const source = `${unique("pages")} a,y&b=ü>`;
  const made = await atOnce(size, (n) => mine.createLead({ source, name: `Lead ${n}` }));
  await eventually(async () => expectMatch("the total", await mine.count(leads, { source }), size));
  return { source, made, ids: made.map(({ id }) => id).sort() };
}

/** The pages that a `Link` header links, by their relation. */
function linksOf({ headers }: HttpResponse): Record<string, string> {
  const parts = String(headers.link ?? "").matchAll(/<(\/[^>]*)>; rel="([^"]*)"/g);
  return Object.fromEntries(Array.from(parts, ([, target = "", relation = ""]) => [relation, target]));
}

function expectLinks(response: HttpResponse, expected: Readonly<Record<string, number>>) {
  const pages = Object.entries(linksOf(response)).map(([relation, target]) => {
    return [relation, Number(new URLSearchParams(target.split("?")[1]).get("page"))];
  });
  const absent = { prev: undefined, next: undefined };
  expectMatch(response.request, Object.fromEntries(pages), { ...absent, ...expected });
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
    const after = await mine.list(path, { page: page + 1, limit });
    expectMatch(`page ${page + 1}`, after, { data: [], pagination: { page: page + 1, limit, total } });
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
    "Past the last page, up to page 999,999,999, data is empty and total is exact": async (context) => {
      const { source } = await shared(context, makeLeads);
      for (const page of [6, 999_999_999]) {
        const seen = await context.mine.list(leads, { source, page, limit: 5 });
        expectMatch(`page ${page}`, seen, { data: [], pagination: { page, limit: 5, total: size } });
      }
    },
    "The last page of all leads has the rest of the exact total": hasLastPage(leads),
    "The last page of all conversations has the rest of the exact total": hasLastPage(conversations),
    "Following next reads a whole list, with its filters and its limit": async (context) => {
      const { source, ids } = await shared(context, makeLeads);
      const rows: string[] = [];
      let next: string | undefined = pathOf(leads, { source, status: "new", limit: 10 });
      while (next !== undefined && rows.length <= size) {
        const response = await context.mine.get(next);
        rows.push(...expectResponse<{ data: Row[] }>(response, { status: 200 }).data.map(({ id }) => id));
        next = linksOf(response).next;
      }
      expectMatch("the rows of all pages", rows.sort(), ids);
    },
    "Link has first, prev, next and last: no prev on page 1, no next from the last page on": async (
      context,
    ) => {
      const { source } = await shared(context, makeLeads);
      const pages = { 1: { next: 2 }, 3: { prev: 2, next: 4 }, 5: { prev: 4 }, 9: { prev: 5 } };
      for (const [page, links] of Object.entries(pages)) {
        const response = await context.mine.get(pathOf(leads, { source, page, limit: 5 }));
        expectLinks(response, { first: 1, last: 5, ...links });
      }
    },
    "An empty list has one empty page": async ({ mine }) => {
      const response = await mine.get(pathOf(leads, { source: unique("nobody") }));
      const body = { data: [], pagination: { page: 1, limit: 20, total: 0 } };
      expectResponse(response, { status: 200, body });
      expectLinks(response, { first: 1, last: 1 });
    },
  }),
  ...promises("lib/openapi/guides.md#read-everything", {
    "Reading on from the creation time of the last lead, oldest first, misses no lead": async (context) => {
      const { made, ids } = await shared(context, makeLeads);
      const sorted = made.map(({ createdAt }) => createdAt).sort();
      const createdBefore = new Date(Date.parse(sorted.at(-1) ?? "") + 1).toISOString();
      const [limit, found] = [10, new Set<string>()];
      for (let [createdAfter = "", page] = [sorted[0], 1]; ; ) {
        const query = { sort: "createdAt", createdAfter, createdBefore, page, limit };
        const { data, pagination } = await context.mine.list(leads, query);
        for (const { id } of data) found.add(id);
        if (page * limit >= pagination.total) break;
        const next = data.at(-1)?.createdAt ?? "";
        [createdAfter, page] = next > createdAfter ? [next, 1] : [createdAfter, page + 1];
      }
      const missed = ids.filter((id) => !found.has(id));
      expectMatch("the leads that were missed", missed, []);
    },
  }),
];
