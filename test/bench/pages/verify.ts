import { deepStrictEqual } from "node:assert";
import { listLeads } from "../../../shared/domain/leads.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import type { LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import type { Population } from "./population.ts";

/** @throws AssertionError unless the response is the page of the leads in memory */
export function verify(
  population: Population,
  filter: LeadsQuery,
  { page, limit }: PageRequest,
  { data, pagination }: Page<{ readonly id?: unknown }>,
): void {
  const response = { ids: data.map(({ id }) => id), total: pagination.total };
  const expected = population.page(filter, page, limit);
  deepStrictEqual(
    response,
    expected,
    `${population.account}: wrong page ${page} of ${JSON.stringify(filter)}`,
  );
}

/** Verifies the first, a middle and the last page of each filter. */
export async function verifyLists(population: Population, filters: readonly LeadsQuery[]): Promise<void> {
  for (const filter of filters) {
    const pages = Math.ceil(population.matching(filter).length / 20);
    for (const page of new Set([1, Math.ceil(pages / 2), pages, pages + 1].filter((number) => number > 0))) {
      const request = { page, limit: 20 };
      verify(population, filter, request, await listLeads(population.account, filter, request));
    }
  }
}
