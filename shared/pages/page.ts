/** Which page of a list, counted from 1, and how many items a page holds. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** A page of a list, with the exact number of items that the whole list has. */
export interface Page<T> {
  readonly data: T[];
  readonly pagination: PageRequest & { readonly total: number };
}

/** The page that a valid query asks for. */
export const pageRequest = ({
  page = "1",
  limit = "20",
}: {
  page?: string;
  limit?: string;
}): PageRequest => ({
  page: Number(page),
  limit: Number(limit),
});
