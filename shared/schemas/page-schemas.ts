import type { JSONSchema } from "json-schema-to-ts";
import type { Descriptions } from "./record.ts";

export const maxPage = 999_999_999;
export const maxLimit = 100;

export const defaultPage = 1;
export const defaultLimit = 20;

/** Parameters of a list, as the strings that arrive: plain digits, from 1 to `maxPage` and `maxLimit`. */
export const page = { type: "string", pattern: "^[1-9]\\d{0,8}$" } as const satisfies JSONSchema;
export const limit = { type: "string", pattern: "^(?:[1-9]\\d?|100)$" } as const satisfies JSONSchema;

/** The orders of every list, written as in JSON:API: a field, after a minus if the newest rows come first. */
export const creationOrders = ["-createdAt", "createdAt"] as const;

export const pagingDescriptions = {
  page: "The page, from 1. Past the last page, `data` is empty and `total` is still exact. A list by a change can end earlier: see `sort`.",
  limit: "The number of items per page.",
};

/** The position of a page in its list. */
export const pagination = {
  type: "object",
  properties: {
    page: { type: "integer", minimum: 1 },
    limit: { type: "integer", minimum: 1, maximum: maxLimit },
    total: { type: "integer", minimum: 0 },
  },
  required: ["page", "limit", "total"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const paginationDescriptions: Descriptions<typeof pagination> = {
  page: "The number of the page, from 1.",
  limit: "The number of items per page.",
  total: "The exact number of items that match the request.",
};

export const pageDescriptions = {
  data: "The items of the page, in the order that `sort` says.",
  pagination: "The position of the page in its list.",
};

/** The response of a list. Mark its calls as pure, so that bundles leave out unused schemas. */
export const pageSchema = <Item extends object>(items: Item) =>
  ({
    type: "object",
    properties: { data: { type: "array", maxItems: maxLimit, items }, pagination },
    required: ["data", "pagination"],
    additionalProperties: false,
  }) as const;
