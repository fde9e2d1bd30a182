import type { ApiResponse } from "./connections.ts";

/** The values that the rows of a list must have. */
export type Filter = Readonly<Record<string, string>>;

/** The page of a list that was requested. */
export interface Page {
  readonly filter: Filter;
  readonly page: number;
  readonly limit: number;
}

interface ListResponse {
  readonly data: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[];
  readonly pagination: { readonly page: number; readonly limit: number; readonly total: number };
}

/**
 * Checks a page: its length must follow from its total, its rows must match the filter and be the newest first, and
 * its total must have been true while it was read.
 *
 * @param least rows that existed when it was requested
 * @param most rows that may exist now
 * @returns the fault, if any
 */
export function checkPage(
  { status, body }: ApiResponse,
  { filter, page, limit }: Page,
  { least, most }: { readonly least: number; readonly most: number },
): string | undefined {
  if (status !== 200) return unexpectedStatus(status);
  const { data, pagination } = body as ListResponse;
  if (pagination.page !== page || pagination.limit !== limit) return "another page";
  const { total } = pagination;
  if (total < least) return "a total too small";
  if (total > most) return "a total too large";
  if (data.length !== Math.max(0, Math.min(limit, total - (page - 1) * limit)))
    return "a wrong number of rows";
  const conditions = Object.entries(filter);
  if (data.some((row) => conditions.some(([name, value]) => row[name] !== value)))
    return "rows that do not match the filter";
  if (data.some(({ id }, n) => n > 0 && id >= (data[n - 1]?.id ?? ""))) return "rows out of order";
  return undefined;
}

/** Checks the response to a POST: it must hold what was sent. @returns the fault, if any */
export function checkRecord({ status, body }: ApiResponse, sent: object): string | undefined {
  if (status !== 201) return unexpectedStatus(status);
  const record = body as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(sent).find(
    ([name, value]) => JSON.stringify(record[name]) !== JSON.stringify(value),
  );
  return wrong && `another ${wrong[0]} than was sent`;
}

/** Checks the response to a repeated POST: it must equal the first one. @returns the fault, if any */
export function checkReplay({ status, headers, body }: ApiResponse, first: unknown): string | undefined {
  if (status !== 201) return unexpectedStatus(status);
  if (headers["idempotency-replayed"] !== "true") return "not replayed";
  return JSON.stringify(body) === JSON.stringify(first) ? undefined : "another response than before";
}

const unexpectedStatus = (status: number) => `status ${status}`;

/** Whether the response is the documented 429 with `Retry-After`. */
export const isRateLimited = ({ status, headers }: ApiResponse) =>
  status === 429 &&
  headers["content-type"] === "application/problem+json" &&
  /^\d+$/.test(headers["retry-after"] ?? "");
