import type { JSONSchema } from "json-schema-to-ts";
import * as schemas from "./schemas.ts";

/** One route of the API: what the stack, the validators and the documentation know of it. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The status of a success. */
  readonly success: 200 | 201;
  /** The schema of a success's body. */
  readonly response: JSONSchema;
  readonly query: JSONSchema;
  /** The schema of the JSON body; a route without one takes no body. */
  readonly body?: JSONSchema;
  /** Whether it takes an Idempotency-Key. */
  readonly idempotency?: true;
}

/** Every route, under the name of its function in `functions/`. */
export const routes = {
  "list-leads": {
    method: "GET",
    path: "/api/v1/leads",
    success: 200,
    response: schemas.leadsPage,
    query: schemas.leadsQuery,
  },
  "create-lead": {
    method: "POST",
    path: "/api/v1/leads",
    success: 201,
    response: schemas.lead,
    query: schemas.noQuery,
    body: schemas.newLead,
    idempotency: true,
  },
  "list-conversations": {
    method: "GET",
    path: "/api/v1/conversations",
    success: 200,
    response: schemas.conversationsPage,
    query: schemas.conversationsQuery,
  },
  "send-message": {
    method: "POST",
    path: "/api/v1/conversations",
    success: 201,
    response: schemas.message,
    query: schemas.noQuery,
    body: schemas.newMessage,
    idempotency: true,
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** What a valid request to each route holds. */
export type RouteInputs = {
  "list-leads": { readonly query: schemas.LeadsQuery };
  "create-lead": { readonly body: schemas.NewLead };
  "list-conversations": { readonly query: schemas.ConversationsQuery };
  "send-message": { readonly body: schemas.NewMessage };
};
