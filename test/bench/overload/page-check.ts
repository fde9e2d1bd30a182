import type { Landings } from "./landings.ts";

/** How many leads a page has. */
export const pageSize = 20;

/** The parts of a page of leads that are checked. */
export interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly pagination: { readonly total: number };
}

/**
 * Checks a page, newest lead first, against the rows that had landed when it was requested and those that have now: its
 * total and its place in the list lie between the two, and it skips no lead that had landed.
 *
 * @param before how many rows had landed when the page was requested
 */
export function isRightPage(
  { data, pagination: { total } }: Page,
  page: number,
  landings: Landings,
  before: number,
): boolean {
  const offset = (page - 1) * pageSize;
  const rows = (all: number) => Math.min(pageSize, Math.max(0, all - offset));
  if (!isBetween(total, before, landings.count)) return false;
  if (!isBetween(data.length, rows(before), rows(landings.count))) return false;
  const [newest, oldest] = [data[0]?.id, data.at(-1)?.id];
  if (newest === undefined || oldest === undefined) return true;
  const young = landings.since(before);
  const isYoung = new Set(young);
  const newer = landings.countAfter(newest);
  const youngerThanPage = young.filter((id) => id > newest).length;
  const onPage = landings.countAfter(oldest) + 1 - newer;
  const youngOnPage = young.filter((id) => id >= oldest && id <= newest).length;
  return (
    isBetween(offset, newer - youngerThanPage, newer) &&
    data.filter(({ id }) => !isYoung.has(id)).length === onPage - youngOnPage &&
    data.every(({ id }, at) => at === 0 || id < (data[at - 1]?.id ?? ""))
  );
}

const isBetween = (value: number, least: number, most: number) => value >= least && value <= most;
