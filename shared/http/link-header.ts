import type { Page } from "../pages/page.ts";

/**
 * The `Link` header of a page: `first`, `prev`, `next` and `last` as relative references, with the filters and the
 * limit of the request. An empty list has one page. A page past the end has no `next`, and its `prev` is the last page.
 *
 * @param query of the request, valid
 * @see https://www.rfc-editor.org/rfc/rfc8288
 */
export function linkHeader(path: string, query: object, { page, limit, total }: Page<unknown>["pagination"]) {
  const last = Math.max(1, Math.ceil(total / limit));
  const targets = {
    first: 1,
    ...(page > 1 && { prev: Math.min(page - 1, last) }),
    ...(page < last && { next: page + 1 }),
    last,
  };
  const links = Object.entries(targets).map(([rel, target]) => {
    const parameters = new URLSearchParams({ ...query, page: String(target), limit: String(limit) });
    return `<${path}?${parameters}>; rel="${rel}"`;
  });
  return links.join(", ");
}
