import { defaultLimit, defaultPage } from "../schemas/page-schemas.ts";

/** The number of a page, from 1, and the number of items per page. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** A page of a list, with the exact number of items in the whole list. */
export interface Page<T> {
  readonly data: T[];
  readonly pagination: PageRequest & { readonly total: number };
}

/** The page that a valid query requests. */
export const pageRequest = (query: { page?: string; limit?: string }): PageRequest => ({
  page: Number(query.page ?? defaultPage),
  limit: Number(query.limit ?? defaultLimit),
});
