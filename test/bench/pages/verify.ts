import { deepStrictEqual } from "node:assert";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import type { MeasuredList } from "./measured-list.ts";
import { pageOf } from "./population.ts";
import { limit } from "./rows.ts";

/** @throws AssertionError unless the response is the page of the rows in memory */
export function verify(
  { account, name, rows }: MeasuredList,
  { page, limit }: PageRequest,
  { data, pagination }: Page<{ readonly id?: unknown }>,
): void {
  const response = { ids: data.map(({ id }) => id), total: pagination.total };
  deepStrictEqual(response, pageOf(rows(), page, limit), `${account}: wrong page ${page} of ${name}`);
}

/** Verifies the first, a middle and the last page of each list. */
export async function verifyLists(lists: readonly MeasuredList[]): Promise<void> {
  for (const list of lists) {
    const pages = Math.ceil(list.rows().length / limit);
    for (const page of new Set([1, Math.ceil(pages / 2), pages, pages + 1].filter((number) => number > 0))) {
      const request = { page, limit };
      verify(list, request, await list.read(request));
    }
  }
}
