import { idempotencyKeyPattern } from "../../shared/http/idempotency-key-parser.ts";
import type { Route, RouteName } from "../../shared/routes.ts";
import { defaultLimit, defaultPage, maxLimit, maxPage } from "../../shared/schemas/page-schemas.ts";
import { toReference } from "./components.ts";
import { parameterExamples } from "./examples.ts";

/** Clients send numbers. The validators see strings, which must be plain digits. */
const numbers: Readonly<Record<string, object>> = {
  page: { type: "integer", minimum: 1, maximum: maxPage, default: defaultPage },
  limit: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
  messageLimit: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
};

/**
 * The parameters of a route, as they stand in the document.
 *
 * The examples are in the schemas, because pages to try the API would fill in a parameter's own `example`. It would filter
 * each list, and send the same idempotency key twice.
 */
export function buildParameters(
  route: RouteName,
  { query, method }: Route,
  descriptions: Readonly<Record<string, string>>,
) {
  const { properties = {} } = query as { properties?: Readonly<Record<string, unknown>> };
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    description: descriptions[name],
    // The values of an array are separated by commas, which generated clients do only if the document states it.
    ...((schema as { readonly type: string }).type === "array" && { style: "form", explode: false }),
    schema: { ...(numbers[name] ?? toReference(schema)), examples: [parameterExamples[route][name]] },
  }));
  const key = { $ref: "#/components/parameters/IdempotencyKey" };
  if (method === "GET") return inQuery;
  // Some generated clients take parameters in this order.
  return route === "send-message" ? [key, ...inQuery] : [...inQuery, key];
}

/** The named parameters of the document. */
export const parameterComponents = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A text that the caller creates for the request, such as a UUID. However often the request is sent with it, it takes effect only once within 24 hours, or within 8 days if it stores an inbound message. The key has 1 to 255 visible ASCII characters, bare or in double quotes, and belongs to the account and the route.",
    schema: {
      type: "string",
      pattern: idempotencyKeyPattern,
      examples: ["0d9bd163-5ff0-4a07-9a5b-6a3a7c0c5a10"],
    },
  },
};
