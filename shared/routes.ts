import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import type { ProblemCode } from "./errors.ts";
import {
  conversationsPage,
  conversationsQuery,
  message,
  newMessage,
} from "./schemas/conversation-schemas.ts";
import { lead, leadsPage, leadsQuery, newLead } from "./schemas/lead-schemas.ts";
import { noQuery } from "./schemas/page-schemas.ts";

/** One route of the API: what the stack, the validators and the documentation know of it. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** A list has a `Link` header; a write waits for its rate limit's permit and takes an Idempotency-Key. */
  readonly kind: "list" | "write";
  /** The status of a success. */
  readonly success: 200 | 201;
  /** The schema of a success's body. */
  readonly response: JSONSchema;
  readonly query: JSONSchema;
  /** The schema of the JSON body; a route without one takes no body. */
  readonly body?: JSONSchema;
  /** Every problem that its function may respond with. */
  readonly problems: readonly ProblemCode[];
}

const listProblems = ["invalid_input", "rate_limited", "internal_error", "busy"] as const;
const writeProblems = [...listProblems, "unsupported_media_type", "idempotency_key_reused"] as const;

/** Every route, under the name of its function in `functions/`. */
export const routes = {
  "list-leads": {
    method: "GET",
    path: "/api/v1/leads",
    kind: "list",
    success: 200,
    response: leadsPage,
    query: leadsQuery,
    problems: listProblems,
  },
  "create-lead": {
    method: "POST",
    path: "/api/v1/leads",
    kind: "write",
    success: 201,
    response: lead,
    query: noQuery,
    body: newLead,
    problems: writeProblems,
  },
  "list-conversations": {
    method: "GET",
    path: "/api/v1/conversations",
    kind: "list",
    success: 200,
    response: conversationsPage,
    query: conversationsQuery,
    problems: listProblems,
  },
  "send-message": {
    method: "POST",
    path: "/api/v1/conversations",
    kind: "write",
    success: 201,
    response: message,
    query: noQuery,
    body: newMessage,
    problems: [...writeProblems, "lead_not_found"],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** The content of a valid request to each route: its query, and its body if it takes one. */
export type RouteInputs = {
  [Name in RouteName]: { readonly query: FromSchema<(typeof routes)[Name]["query"]> } & BodyInput<
    (typeof routes)[Name]
  >;
};

type BodyInput<R extends Route> = R extends { readonly body: infer Body extends JSONSchema }
  ? { readonly body: FromSchema<Body> }
  : object;
