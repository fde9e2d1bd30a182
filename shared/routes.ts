import type { JSONSchema } from "json-schema-to-ts";
import type { ProblemCode } from "./errors.ts";
import {
  conversationsQuery,
  conversationUpdate,
  messageUpdate,
  newMessage,
  sendMessageQuery,
} from "./schemas/conversation-schemas.ts";
import { leadsQuery, leadUpdate, newLead, newLeadQuery } from "./schemas/lead-schemas.ts";
import type { Inferred } from "./schemas/validator.ts";

/** One route of the API, as the stack, the validators and the documentation use it. */
export interface Route {
  /** The name of its function in `functions/`. */
  readonly name: string;
  /**
   * A GET lists, and its response has a `Link` header. A POST writes: it waits for the permit of the rate limiter and accepts
   * an Idempotency-Key.
   */
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: JSONSchema;
  /** The schema of the JSON body; a route without one takes no body. */
  readonly body?: JSONSchema;
  /** The schemas of other bodies, by the value of the query parameter that chooses them. */
  readonly otherBodies?: {
    readonly parameter: string;
    readonly schemas: Readonly<Record<string, JSONSchema>>;
  };
  /** The problems of a body that names a record that the account does not have, or already has. */
  readonly ownProblems?: readonly ProblemCode[];
}

export const leadsPath = "/api/v1/leads";
export const conversationsPath = "/api/v1/conversations";

export const listLeadsRoute = {
  name: "list-leads",
  method: "GET",
  path: leadsPath,
  query: leadsQuery,
} as const satisfies Route;

export const createLeadRoute = {
  name: "create-lead",
  method: "POST",
  path: leadsPath,
  query: newLeadQuery,
  body: newLead,
  otherBodies: { parameter: "ifExists", schemas: { update: leadUpdate } },
  ownProblems: ["lead_exists", "lead_not_found"],
} as const satisfies Route;

export const listConversationsRoute = {
  name: "list-conversations",
  method: "GET",
  path: conversationsPath,
  query: conversationsQuery,
} as const satisfies Route;

export const sendMessageRoute = {
  name: "send-message",
  method: "POST",
  path: conversationsPath,
  query: sendMessageQuery,
  body: newMessage,
  otherBodies: { parameter: "update", schemas: { message: messageUpdate, conversation: conversationUpdate } },
  ownProblems: [
    "lead_not_found",
    "conversation_not_found",
    "message_not_found",
    "conversation_exists",
    "conversation_changed",
  ],
} as const satisfies Route;

/** Every route, by its name. A function imports only its own route, so that its bundle has no schemas of other routes. */
export const routes = {
  "list-leads": listLeadsRoute,
  "create-lead": createLeadRoute,
  "list-conversations": listConversationsRoute,
  "send-message": sendMessageRoute,
} as const;

export type RouteName = keyof typeof routes;

/**
 * The schema of the body that the query of a request chooses, and the value that chooses it, undefined for `body`. An
 * unknown value is a fault of the query: the request is validated with the first of `otherBodies`.
 */
export function chooseBody({ body, otherBodies }: Route, query: object) {
  if (!otherBodies || !(otherBodies.parameter in query)) return { schema: body };
  const { [otherBodies.parameter]: chosen } = query as Record<string, unknown>;
  const others = Object.entries(otherBodies.schemas);
  const [value, schema] = others.find(([value]) => value === chosen) ?? others[0] ?? [];
  return { value, schema };
}

/** The input of a valid request to a route: its body, or its query if the route takes no body. */
export type RouteInput<R extends Route, Body = R["body"]> = Inferred<
  Body extends JSONSchema ? Body : R["query"]
>;
