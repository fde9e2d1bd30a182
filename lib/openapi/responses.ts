import { type ProblemCode, problems } from "../../shared/errors.ts";
import type { Route, RouteName } from "../../shared/routes.ts";
import { gatewayResponse } from "../local/gateway/http-response.ts";
import { invalidExamples, problemExamples, responseExamples } from "./examples.ts";
import { functionHeaders, headers } from "./headers.ts";
import { gatewayErrorSchema, problemSchema, referring } from "./schemas.ts";

/** What each error of a function means to the caller. */
const meanings: Record<ProblemCode, string> = {
  invalid_input: "The request is invalid: `errors` has every fault of it.",
  lead_not_found: "The account has no lead with this `leadId`.",
  unsupported_media_type: "The body's `Content-Type` is not JSON.",
  idempotency_key_reused: "The `Idempotency-Key` came with another body before.",
  rate_limited:
    "The account's rate limit is used up (a problem), or the gateway's throttle for all accounts together (a message).",
  internal_error: "A fault of the service; its log has the cause under the request's id.",
  busy: "Others write to the same conversation, the table is too busy, or the function took too long. Try again.",
};

/** The errors of functions that are answered with the same status by the gateway itself. */
const sharedWithGateway = { rate_limited: 429, internal_error: 500, busy: 503 } as const;

const ownErrors = {
  Unauthorized: { status: 401, description: "The request has no `Authorization`." },
  Forbidden: { status: 403, description: "The API key is malformed, unknown, expired or revoked." },
  TooLarge: { status: 413, description: "The body is over 6 MB." },
} as const;

function problemContent(code: ProblemCode, example: object) {
  const { status } = problems[code];
  const narrower = {
    properties: { status: { const: status }, code: { const: code } },
    ...("errors" in example && { required: ["errors"] }),
  };
  const schema = { allOf: [referring(problemSchema), narrower] };
  return { "application/problem+json": { schema, example } };
}

const gatewayContent = (status: Parameters<typeof gatewayResponse>[0]) => ({
  "application/json": {
    schema: referring(gatewayErrorSchema),
    example: JSON.parse(String(gatewayResponse(status).body)),
  },
});

const problemDocumentResponse = (code: ProblemCode, example: object) => ({
  description: meanings[code],
  headers: headers(...functionHeaders),
  content: problemContent(code, example),
});

const sharedResponse = (code: keyof typeof sharedWithGateway) => ({
  description: meanings[code],
  headers: headers(...functionHeaders, ...(code === "internal_error" ? [] : (["RetryAfter"] as const))),
  content: { ...problemContent(code, problemExamples[code]), ...gatewayContent(sharedWithGateway[code]) },
});

const gatewayErrorResponse = ({ status, description }: (typeof ownErrors)[keyof typeof ownErrors]) => ({
  description,
  headers: headers("RequestId"),
  content: gatewayContent(status),
});

/** The answers that have names in the document: those that are the same on several routes. */
export const responseComponents = {
  Unauthorized: gatewayErrorResponse(ownErrors.Unauthorized),
  Forbidden: gatewayErrorResponse(ownErrors.Forbidden),
  TooLarge: gatewayErrorResponse(ownErrors.TooLarge),
  UnsupportedMediaType: problemDocumentResponse(
    "unsupported_media_type",
    problemExamples.unsupported_media_type,
  ),
  IdempotencyKeyReused: problemDocumentResponse(
    "idempotency_key_reused",
    problemExamples.idempotency_key_reused,
  ),
  TooManyRequests: sharedResponse("rate_limited"),
  InternalError: sharedResponse("internal_error"),
  Busy: sharedResponse("busy"),
};

const named = (name: keyof typeof responseComponents) => ({ $ref: `#/components/responses/${name}` });

/** Every answer of a route, by its status. */
export function buildResponses(name: RouteName, route: Route, description: string) {
  const { body, idempotency, method, success } = route;
  const own = [method === "GET" ? "Link" : undefined, idempotency && "IdempotencyReplayed"] as const;
  return {
    [success]: {
      description,
      headers: headers(...functionHeaders, ...own.filter((header) => header !== undefined)),
      content: {
        "application/json": { schema: referring(route.response), example: responseExamples[name] },
      },
    },
    400: problemDocumentResponse("invalid_input", invalidExamples[name].response),
    401: named("Unauthorized"),
    403: named("Forbidden"),
    ...(name === "send-message" && {
      404: problemDocumentResponse("lead_not_found", problemExamples.lead_not_found),
    }),
    413: named("TooLarge"),
    ...(body !== undefined && { 415: named("UnsupportedMediaType") }),
    ...(idempotency && { 422: named("IdempotencyKeyReused") }),
    429: named("TooManyRequests"),
    500: named("InternalError"),
    503: named("Busy"),
  };
}
