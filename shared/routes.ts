import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import type { ProblemCode } from "./errors.ts";
import { conversationsQuery, newMessage } from "./schemas/conversation-schemas.ts";
import { leadsQuery, leadUpdate, newLead, newLeadQuery } from "./schemas/lead-schemas.ts";
import { noQuery } from "./schemas/page-schemas.ts";

/** One route of the API: what the stack, the validators and the documentation know of it. */
export interface Route {
  /** The name of its function in `functions/`. */
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** A list has a `Link` header; a write waits for its rate limit's permit and takes an Idempotency-Key. */
  readonly kind: "list" | "write";
  /** The status of a success. */
  readonly success: 200 | 201;
  readonly query: JSONSchema;
  /** The schema of the JSON body; a route without one takes no body. */
  readonly body?: JSONSchema;
  /** The problem of a body that names what the account does not have, or has already. */
  readonly ownProblem?: ProblemCode;
}

export const leadsPath = "/api/v1/leads";
export const conversationsPath = "/api/v1/conversations";

export const listLeadsRoute = {
  name: "list-leads",
  method: "GET",
  path: leadsPath,
  kind: "list",
  success: 200,
  query: leadsQuery,
} as const satisfies Route;

export const createLeadRoute = {
  name: "create-lead",
  method: "POST",
  path: leadsPath,
  kind: "write",
  success: 201,
  query: newLeadQuery,
  body: newLead,
  ownProblem: "lead_exists",
} as const satisfies Route;

/** The same route with `ifExists`. */
export const updateLeadRoute = /* @__PURE__ */ (() =>
  ({ ...createLeadRoute, body: leadUpdate }) as const satisfies Route)();

export const listConversationsRoute = {
  name: "list-conversations",
  method: "GET",
  path: conversationsPath,
  kind: "list",
  success: 200,
  query: conversationsQuery,
} as const satisfies Route;

export const sendMessageRoute = {
  name: "send-message",
  method: "POST",
  path: conversationsPath,
  kind: "write",
  success: 201,
  query: noQuery,
  body: newMessage,
  ownProblem: "lead_not_found",
} as const satisfies Route;

/** Every route, by its name. A function imports its own route alone, so that its bundle has no other's schemas. */
export const routes = {
  "list-leads": listLeadsRoute,
  "create-lead": createLeadRoute,
  "list-conversations": listConversationsRoute,
  "send-message": sendMessageRoute,
} as const;

export type RouteName = keyof typeof routes;

/** The content of a valid request to a route: its query, and its body if it takes one. */
export type RouteInput<R extends Route> = Content<"query", R["query"]> & Content<"body", R["body"]>;

type Content<Part extends string, Schema> = Schema extends JSONSchema
  ? { readonly [_ in Part]: FromSchema<Schema> }
  : object;
