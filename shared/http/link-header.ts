import { lastPage, type Page } from "../pages/page.ts";

/** The most bytes of the header. nginx takes 4 KB for all headers of a response by default, and answers 502 for more. */
const maxBytes = 3500;

/** In which order links are left out of a longer header: without `next`, a list would seem to end. */
const leftOut = ["last", "first", "prev", "next"];

/**
 * The `Link` header of a page: `first`, `prev`, `next` and `last` as relative references, with the filters and the
 * limit of the request. An empty list has one page. A page past the end has no `next`, and its `prev` is the last page.
 * Long filters leave room for fewer links, or for none.
 *
 * @param query of the request, valid
 * @see https://www.rfc-editor.org/rfc/rfc8288
 */
export function linkHeader(path: string, query: object, { page, limit, total }: Page<unknown>["pagination"]) {
  const last = Math.max(1, Math.ceil(total / limit));
  const lastShown = lastPage(query, limit);
  const targets = {
    first: 1,
    ...(page > 1 && { prev: Math.min(page - 1, last) }),
    ...(page < Math.min(last, lastShown) && { next: page + 1 }),
    ...(last <= lastShown && { last }),
  };
  const links = new Map(
    Object.entries(targets).map(([rel, target]) => {
      const parameters = new URLSearchParams({ ...query, page: String(target), limit: String(limit) });
      return [rel, `<${path}?${parameters}>; rel="${rel}"`];
    }),
  );
  const join = () => [...links.values()].join(", ");
  for (const rel of leftOut) if (join().length > maxBytes) links.delete(rel);
  return join();
}
