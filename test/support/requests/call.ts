import { gunzipSync } from "node:zlib";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { vi } from "vitest";
import { handler as createLead } from "../../../functions/create-lead.ts";
import { handler as listConversations } from "../../../functions/list-conversations.ts";
import { handler as listLeads } from "../../../functions/list-leads.ts";
import { handler as sendMessage } from "../../../functions/send-message.ts";
import type { RouteEvent } from "../../../shared/http/route-event.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import type { Conversation, Message } from "../../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { checkResponse } from "./document.ts";
import { lambdaContext, routeEvent, type TestRequest } from "./events.ts";
import { noteSent } from "./sent.ts";

const handlers = {
  "list-leads": listLeads,
  "create-lead": createLead,
  "list-conversations": listConversations,
  "send-message": sendMessage,
};

/** A problem document. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  errors?: { in: string; field: string; code: string; message: string }[];
}

interface List<T> {
  data: T[];
  pagination: { page: number; limit: number; total: number };
}

/** The body of each route's successful response. */
export interface ResponseBodies {
  "list-leads": List<Lead>;
  "create-lead": Lead;
  "list-conversations": List<Conversation>;
  "send-message": Message;
}

/** Invokes the route's whole handler, middleware included. */
export const invokeHandler = async (name: RouteName, event: object, remaining?: number) =>
  (await handlers[name](event as RouteEvent, lambdaContext(remaining))) as APIGatewayProxyStructuredResultV2;

/** The text of a function's response. API Gateway decodes base64, and then the client decodes the `Content-Encoding`. */
export function decodedBody({ body = "", headers = {}, isBase64Encoded }: APIGatewayProxyStructuredResultV2) {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  return (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
}

/**
 * Sends a request to the route's whole handler and checks the response against docs/openapi.json; `body` is parsed.
 *
 * @param remaining how long the invocation may take, in milliseconds
 */
export const call = vi.defineHelper(
  async <Name extends RouteName>(name: Name, request: TestRequest = {}, remaining?: number) => {
    noteSent([...new URLSearchParams(request.query)], request.body, request.headers?.["idempotency-key"]);
    const response = await invokeHandler(name, routeEvent(name, request), remaining);
    const text = decodedBody(response);
    checkResponse(routes[name], {
      status: response.statusCode ?? 0,
      headers: new Headers(response.headers as Record<string, string>),
      body: text,
    });
    const body = JSON.parse(text);
    return {
      status: response.statusCode,
      headers: response.headers ?? {},
      body: body as ResponseBodies[Name],
      problem: body as Problem,
    };
  },
);
