import { type ProblemCode, problems } from "../../shared/errors.ts";
import type { Route } from "../../shared/routes.ts";
import { gatewayMessages } from "../gateway-messages.ts";
import { toReference } from "./components.ts";
import { problemExamples } from "./examples.ts";
import { functionHeaders, type HeaderName, headers } from "./headers.ts";
import type { Operation } from "./operations.ts";
import { codesLike, gatewayError, problemName } from "./problem-schemas.ts";

const problemDescriptions: Readonly<Record<ProblemCode, string>> = {
  invalid_input: "The request is invalid: `errors` lists its faults.",
  insufficient_access:
    "The API key is malformed, unknown, expired or revoked (a message), or it may not send this request (a problem).",
  lead_exists:
    "Another lead has this `externalId` or address, or the lead has another `externalId`: `id` is the id of that lead.",
  lead_not_found: "The account has no lead with this id, or the lead of a repeated request was erased.",
  conversation_exists: "The lead has another active conversation on the channel: `id` is its id.",
  conversation_changed:
    "The conversation has another number of messages than the request says: `id` is its id.",
  conversation_not_found: "The account has no conversation with this `id`.",
  message_not_found:
    "The conversation has no message with this `id`, or the account has no such conversation.",
  unsupported_media_type: "The body's `Content-Type` is not JSON, or the body is compressed.",
  idempotency_key_reused: "The `Idempotency-Key` was sent before with another body or query.",
  rate_limited:
    "The account has used up its rate limit (a problem), or all accounts together exceed the gateway's throttle (a message).",
  too_many_at_once:
    "Or too many requests of the account use the same conversation, lead, list or other data at once (a problem).",
  internal_error: "The service failed; its log has the cause under the id of the request.",
  busy: "The table is too busy, a list is too expensive now, or the function took too long. Try again.",
  account_frozen: "Or the account accepts no POST while it is being moved or erased.",
};

const commonProblems = [
  "invalid_input",
  "insufficient_access",
  "rate_limited",
  "internal_error",
  "busy",
] as const;

/** The problems of the routes with a method, besides the route's own problems. */
const problemsByMethod = {
  GET: commonProblems,
  POST: ["unsupported_media_type", "idempotency_key_reused", ...commonProblems],
} as const satisfies Record<Route["method"], readonly ProblemCode[]>;

type GatewayStatus = keyof typeof gatewayMessages;

const gatewayContent = (status: GatewayStatus) => ({
  "application/json": { schema: toReference(gatewayError), example: { message: gatewayMessages[status] } },
});

const describeGatewayResponse = (status: GatewayStatus, description: string) => ({
  description,
  headers: headers("apigw-requestid"),
  content: gatewayContent(status),
});

/** The headers that only some problems have. */
const ownHeaders: Partial<Record<ProblemCode, HeaderName>> = {
  unsupported_media_type: "Accept-Encoding",
  rate_limited: "Retry-After",
  busy: "Retry-After",
};

/**
 * Describes a problem's response. API Gateway also uses some of these statuses, with a message of its own.
 *
 * @param among the problems that the route can return, by default all
 */
function describeProblem(code: ProblemCode, among?: readonly ProblemCode[]) {
  const alike = codesLike(code, among);
  const values = alike.map((code) => [code, { value: problemExamples[code] }]);
  const examples =
    alike.length > 1 ? { examples: Object.fromEntries(values) } : { example: problemExamples[code] };
  const schema = { $ref: `#/components/schemas/${problemName(code)}Problem` };
  const { status } = problems[code];
  const own = ownHeaders[code];
  return {
    description: alike.map((code) => problemDescriptions[code]).join(" "),
    headers: headers(...functionHeaders, ...(own ? [own] : [])),
    content: {
      "application/problem+json": { schema, ...examples },
      ...(status === 403 || status === 429 || status >= 500 ? gatewayContent(status as GatewayStatus) : {}),
    },
  };
}

/** The named responses of the document. */
export const responseComponents = {
  Unauthorized: describeGatewayResponse(401, "The request has no `Authorization`."),
  TooLarge: describeGatewayResponse(413, "The body is over 6 MB."),
  ...Object.fromEntries(problemsByMethod.POST.map((code) => [problemName(code), describeProblem(code)])),
};

const toComponent = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** Every response of a route, by its status. */
export function buildResponses({ method, ownProblems = [] }: Route, successes: Operation["successes"]) {
  const own = method === "GET" ? "Link" : "Idempotency-Replayed";
  const successResponses = Object.entries(successes).map(([status, [description, content]]) => [
    status,
    { description, headers: headers(...functionHeaders, own), content: { "application/json": content } },
  ]);
  return {
    ...Object.fromEntries(successResponses),
    401: toComponent("Unauthorized"),
    413: toComponent("TooLarge"),
    ...Object.fromEntries(
      ownProblems.map((code) => [problems[code].status, describeProblem(code, ownProblems)]),
    ),
    ...Object.fromEntries(
      problemsByMethod[method].map((code) => [problems[code].status, toComponent(problemName(code))]),
    ),
  };
}
