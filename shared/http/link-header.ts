import { isDeepStrictEqual } from "node:util";
import { lastPage, type Page, toOrder } from "../pages/page.ts";

/** The most bytes of the header. By default, nginx accepts 4 KB for all headers of a response and answers 502 for more. */
export const maxLinkBytes = 3500;

/** The order in which links are left out of a longer header: `next` last, because without it a list would seem to end. */
const leftOut = ["last", "first", "prev", "next"];

/**
 * The `Link` header of a page: `first`, `prev`, `next` and `last` as relative references, with the filters and the
 * limit of the request. An empty list has one page. A page past the end has no `next`, and its `prev` is the last page. Long
 * filters leave room for fewer links, or for none.
 *
 * On the last page of a list by a change, `next` begins a new list at the time of the last row, including that time. If the
 * oldest changes are first, `next` does so on every page: page numbers would miss rows when others move to the end.
 *
 * @param query of the request, valid
 * @see https://www.rfc-editor.org/rfc/rfc8288
 */
export function linkHeader(path: string, query: { sort?: string }, { data, pagination }: Page<object>) {
  const { page, limit, total } = pagination;
  const last = Math.max(1, Math.ceil(total / limit));
  const lastShown = lastPage(query, limit);
  const toPage = (number: number) => ({ ...query, page: `${number}`, limit: `${limit}` });
  const { by, ascending } = toOrder(query.sort);
  const further = page < lastShown ? toPage(page + 1) : undefined;
  const later = by && (ascending || !further) ? goOn(toPage(1), query, data) : undefined;
  const next = later ?? further;
  const targets = {
    first: toPage(1),
    ...(page > 1 && { prev: toPage(Math.min(page - 1, last)) }),
    ...(page < last && next && { next }),
    ...(last <= lastShown && { last: toPage(last) }),
  };
  const links = new Map(
    Object.entries(targets).map(([rel, target]) => [
      rel,
      `<${path}?${new URLSearchParams(target)}>; rel="${rel}"`,
    ]),
  );
  const join = () => [...links.values()].join(", ");
  for (const rel of leftOut) if (join().length > maxLinkBytes) links.delete(rel);
  return join();
}

/** The query that continues a list by a change at the time of the last row; undefined if it would not advance. */
function goOn(firstPage: Record<string, string>, { sort = "" }: { sort?: string }, rows: readonly object[]) {
  const field = sort.replace("-", "");
  const time = Date.parse(String(Reflect.get(rows.at(-1) ?? {}, field)));
  if (Number.isNaN(time)) return undefined;
  const [end, at] = toOrder(sort).ascending ? (["After", time] as const) : (["Before", time + 1] as const);
  const bound = field.replace(/At$/, end);
  const next = { ...firstPage, [bound]: new Date(at).toISOString() };
  // All rows have the same time.
  return isDeepStrictEqual(next, firstPage) ? undefined : next;
}
