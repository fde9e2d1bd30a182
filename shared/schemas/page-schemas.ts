import type { JSONSchema } from "json-schema-to-ts";
import { maxLimit } from "./page-bounds.ts";
import type { Descriptions } from "./record.ts";
import { textRules } from "./text-rules.ts";

/** The parameters of a list, as strings, the way they arrive. */
export const paging = {
  page: { type: "string", pattern: textRules.page.pattern },
  limit: { type: "string", pattern: textRules.limit.pattern },
} as const satisfies Record<string, JSONSchema>;

export const pagingDescriptions = {
  page: "The page, from 1. Past the last page, `data` is empty and `total` is still exact.",
  limit: "The number of items per page.",
} satisfies Record<keyof typeof paging, string>;

/** A query without parameters. */
export const noQuery = {
  type: "object",
  properties: {},
  additionalProperties: false,
} as const satisfies JSONSchema;

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

/** The response of a list. */
export const pageSchema = <Item extends object>(items: Item) =>
  ({
    type: "object",
    properties: { data: { type: "array", maxItems: maxLimit, items }, pagination },
    required: ["data", "pagination"],
    additionalProperties: false,
  }) as const;
