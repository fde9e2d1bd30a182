import type { ApiResponse } from "./connections.ts";

/** The values that the rows of a list must have. */
export type Filter = Readonly<Record<string, string>>;

/** A page of a list, as it was asked for. */
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
 * Finds what is wrong with a page: its length must follow from its total, its rows must pass the filter and be the
 * newest first, and its total must be one that was true while it was read.
 *
 * @param least rows that were there when it was asked for
 * @param most rows that may be there now
 */
export function faultOfPage(
  { status, body }: ApiResponse,
  { filter, page, limit }: Page,
  { least, most }: { readonly least: number; readonly most: number },
): string | undefined {
  if (status !== 200) return faultOfStatus(status);
  const { data, pagination } = body as ListResponse;
  if (pagination.page !== page || pagination.limit !== limit) return "another page";
  const { total } = pagination;
  if (total < least) return "a total too small";
  if (total > most) return "a total too large";
  if (data.length !== Math.max(0, Math.min(limit, total - (page - 1) * limit))) return "rows amiss";
  const wanted = Object.entries(filter);
  if (data.some((row) => wanted.some(([name, value]) => row[name] !== value))) return "rows of no business";
  if (data.some(({ id }, n) => n > 0 && id >= (data[n - 1]?.id ?? ""))) return "rows out of order";
  return undefined;
}

/** Finds what is wrong with the answer to a POST: it must repeat what was sent. */
export function faultOfRecord({ status, body }: ApiResponse, sent: object): string | undefined {
  if (status !== 201) return faultOfStatus(status);
  const record = body as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(sent).find(
    ([name, value]) => JSON.stringify(record[name]) !== JSON.stringify(value),
  );
  return wrong && `another ${wrong[0]} than was sent`;
}

/** Finds what is wrong with the answer to a POST that was sent again: it must be the first one's. */
export function faultOfReplay({ status, headers, body }: ApiResponse, first: unknown): string | undefined {
  if (status !== 201) return faultOfStatus(status);
  if (headers["idempotency-replayed"] !== "true") return "carried out again";
  return JSON.stringify(body) === JSON.stringify(first) ? undefined : "another answer than before";
}

const faultOfStatus = (status: number) => `status ${status}`;

/** Whether the answer says, as it must, that the account has made too many requests and when there will be room. */
export const isRefusal = ({ status, headers }: ApiResponse) =>
  status === 429 &&
  headers["content-type"] === "application/problem+json" &&
  /^\d+$/.test(headers["retry-after"] ?? "");
