import { idempotencyKeyPattern } from "../../shared/http/idempotency-key-parser.ts";
import { pageRequest } from "../../shared/pages/page.ts";
import type { Route } from "../../shared/routes.ts";
import { referring } from "./schemas.ts";

const defaults = pageRequest({});

/** Numbers in a query are strings to the validators, which hold them to plain digits; to a client they are numbers. */
const numbers: Record<string, object> = {
  page: { type: "integer", minimum: 1, maximum: 999_999_999, default: defaults.page },
  limit: { type: "integer", minimum: 1, maximum: 100, default: defaults.limit },
};

const meanings: Record<string, string> = {
  page: "Which page, from 1. Past the last page `data` is empty and `total` still true.",
  limit: "How many items a page holds.",
  source: "Only leads of this origin channel, for example instagram, whatsapp.",
  leadId: "Only conversations with this lead.",
  channel: "Only conversations on this channel, for example instagram, whatsapp.",
  status: "Only those of this status.",
};

/** The parameters that a route takes, as the document has them. */
export function buildParameters({ query, idempotency }: Route) {
  const { properties = {} } = query as { properties?: Record<string, unknown> };
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    description: meanings[name],
    schema: numbers[name] ?? referring(schema),
  }));
  return idempotency ? [...inQuery, { $ref: "#/components/parameters/IdempotencyKey" }] : inQuery;
}

/** The parameters that have names in the document. */
export const parameterComponents = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A text that the caller makes up for the request, a UUID say: with it the request takes effect once within 24 hours, however often it is sent. It has 1 to 255 visible ASCII characters, bare or in double quotes, and belongs to the account and the route.",
    schema: { type: "string", pattern: idempotencyKeyPattern },
  },
};
