import { type EventType, eventSchemas } from "../../shared/domain/event-schemas.ts";
import { ApiError, invalidInput, type ProblemCode } from "../../shared/errors.ts";
import { unsupportedType } from "../../shared/http/body-parser.ts";
import { problemResponse } from "../../shared/http/problem-responses.ts";
import type { RouteName } from "../../shared/routes.ts";
import { message as messageSchema } from "../../shared/schemas/conversation-schemas.ts";
import { lead as leadSchema } from "../../shared/schemas/lead-schemas.ts";
import { toRecord } from "../../shared/schemas/record.ts";

const requestId = "ELcEv7R332QgMgM=";
const leadId = "lead_01M7XX82T31MKK0XPP5SRK7Z5P";
const conversationId = "conv_01M7XX83BCDGP2G7P6BFF0X9ND";

/** A valid body for each route. The body of a lead has no `externalId` and no address, so it can be sent again. */
export const requestExamples = {
  "create-lead": {
    name: "Ada Lovelace",
    email: "ada@example.com",
    source: "instagram",
    tags: ["vip"],
    metadata: { plan: "pro" },
  },
  "send-message": {
    leadId,
    channel: "whatsapp",
    direction: "outbound",
    message: "Hello Ada",
    template: { name: "welcome", language: "en_US", parameters: ["Ada"] },
    metadata: { campaign: "spring" },
  },
} satisfies Partial<Record<RouteName, object>>;

const messageId = "msg_01M7XX83BDX5NTVPPGQKPC08SS";

/** A valid body of each update: of a lead, and for each value of `update`. */
export const updateExamples = {
  lead: {
    name: "Ada Lovelace",
    externalId: "hubspot:4711",
    addresses: { whatsapp: ["+4917700000001"] },
    status: "qualified",
    score: 60,
  },
  message: {
    id: messageId,
    conversationId,
    delivery: "failed",
    deliveryError: "131047: Message failed to send because more than 24 hours have passed",
    providerId: "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3N0Ex",
  },
  conversation: { id: conversationId, status: "closed", messageCount: 1 },
};

/** A value of each field that the body of a lead can have with any query. */
export const leadExample = { id: leadId, ...requestExamples["create-lead"], ...updateExamples.lead };

const [after, before] = ["2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"];

const parameters = {
  page: 1,
  limit: 20,
  source: "instagram",
  email: "ada@example.com",
  externalId: ["hubspot:4711"],
  address: ["whatsapp:+4917700000001"],
  createdAfter: after,
  createdBefore: before,
  updatedAfter: after,
  updatedBefore: before,
  ifExists: "update",
  leadId,
  channel: "whatsapp",
  lastMessageAfter: after,
  lastMessageBefore: before,
  awaitingReply: "true",
  awaitingReplyAfter: after,
  awaitingReplyBefore: before,
  include: "messages",
  messageLimit: 20,
  messagesBefore: messageId,
  update: "message",
};

/** A value of each query parameter of a route. */
export const parameterExamples: Record<RouteName, Readonly<Record<string, unknown>>> = {
  "list-leads": { ...parameters, id: [leadId], status: "new", sort: "updatedAt" },
  "create-lead": parameters,
  "list-conversations": { ...parameters, id: [conversationId], status: "active", sort: "-lastMessageAt" },
  "send-message": parameters,
};

const createdLead = toRecord(leadSchema, {
  ...requestExamples["create-lead"],
  id: leadId,
  score: 0,
  status: "new",
  createdAt: "2026-11-21T01:59:00.163Z",
  updatedAt: "2026-11-21T01:59:00.163Z",
});

const updatedLead = toRecord(leadSchema, {
  ...createdLead,
  ...updateExamples.lead,
  updatedAt: "2026-11-21T05:51:32.055Z",
});

const listedConversation = {
  id: conversationId,
  leadId,
  channel: "whatsapp",
  status: "active",
  createdAt: "2026-11-21T01:59:00.716Z",
  lastMessageAt: "2026-11-21T01:59:00.717Z",
  messageCount: 1,
  lastMessage: { direction: "outbound", text: "Hello Ada" },
};

/** The same conversation after a message of the lead, with the fields that this adds. */
export const waitingConversation = {
  ...listedConversation,
  lastMessageAt: "2026-11-21T02:04:31.204Z",
  messageCount: 2,
  lastMessage: { direction: "inbound", text: "Hi, is it still free?" },
  lastInboundAt: "2026-11-21T02:04:31.204Z",
  awaitingReplySince: "2026-11-21T02:04:31.204Z",
};

const onePage = { page: 1, limit: 20, total: 1 };

const sentMessage = toRecord(messageSchema, {
  ...requestExamples["send-message"],
  id: messageId,
  conversationId,
  createdAt: listedConversation.lastMessageAt,
});

/** The responses to the updates. */
export const updatedExamples = {
  lead: updatedLead,
  message: toRecord(messageSchema, { ...sentMessage, to: "+4917700000001", ...updateExamples.message }),
  conversation: { ...listedConversation, ...updateExamples.conversation },
};

/** The response of each route after one request with each example, and the update of the lead. */
export const responseExamples = {
  "list-leads": { data: [updatedLead], pagination: onePage },
  "create-lead": createdLead,
  "list-conversations": { data: [listedConversation], pagination: onePage },
  "send-message": sentMessage,
} as const satisfies Record<RouteName, object>;

/** The details of the events that these requests cause, without the fields that all events of a record have. */
const eventFields: Record<EventType, object> = {
  "lead.created": updatedLead,
  "conversation.started": listedConversation,
  "message.sent": { ...sentMessage, to: updatedExamples.message.to },
  "message.received": {
    id: "msg_01M7XXHAXM6H0Q8N2V4R7T9KBD",
    direction: "inbound",
    message: waitingConversation.lastMessage.text,
    metadata: { profile: "Ada L." },
    createdAt: waitingConversation.lastInboundAt,
  },
  "lead.erased": {
    id: "erasure_01M7YQ4T0C8VJ6N3XW5B2KZ9HD",
    createdAt: "2026-11-21T09:31:35.820Z",
  },
  "lead.updated": {
    id: "change_01M7YAHVPQSDPN8ZMGVB6GDWHB",
    createdAt: updatedLead.updatedAt,
    changed: ["externalId", "score", "status", "addresses"],
    lead: updatedLead,
  },
  "conversation.updated": {
    id: "change_01M7YAJHT68P1F6K49W3YHS1XJ",
    createdAt: "2026-11-21T05:51:54.694Z",
    changed: ["status"],
    conversation: updatedExamples.conversation,
  },
  "message.updated": {
    id: "change_01M7XX8AGVQ3WB7E5N0H2KJ4RT",
    createdAt: "2026-11-21T01:59:08.059Z",
    changed: ["delivery", "deliveryError", "providerId"],
    message: updatedExamples.message,
  },
};

const common = { version: 1, account: "acme", leadId, conversationId, messageId, channel: "whatsapp" };

/** The details of these events, each with the fields that its schema has. */
export const eventDetailExamples = Object.fromEntries(
  Object.entries(eventFields).map(([type, fields]) => [
    type,
    toRecord(eventSchemas[type as EventType], { type, ...common, ...fields }),
  ]),
) as Record<EventType, object>;

const invalidInputExample = toBody(
  invalidInput([
    {
      in: "query",
      field: "ifexists",
      code: "unknown",
      message: "is not a parameter of this route, but ifExists is",
    },
    {
      in: "body",
      field: "source",
      code: "too_short",
      message: "must have at least 1 character: leave it out if it has no value",
    },
  ]),
);

const problemDetails: Record<Exclude<ProblemCode, "invalid_input" | "unsupported_media_type">, string> = {
  insufficient_access: "This API key may only read.",
  lead_exists: `This account has a lead with this externalId: ${leadId}. To change it, send ifExists=update.`,
  lead_not_found: "This account has no lead with this leadId.",
  conversation_exists: `The lead has another active conversation on this channel: ${conversationId}. End that one first.`,
  conversation_changed:
    "The conversation has 3 messages now. Read it, and try again if its status should still change.",
  conversation_not_found: "This account has no conversation with this id.",
  message_not_found: "This conversation has no message with this id.",
  idempotency_key_reused:
    "The Idempotency-Key was sent before with another body or query. A new request needs a new key.",
  rate_limited: "This account may make 6000 requests in 60 seconds. Try again in 42 s.",
  too_many_at_once: "Too many messages are sent to this conversation at once. Try again in 2 s.",
  internal_error: "Something went wrong here. It has been logged.",
  busy: "The service is busy. Try again.",
  account_frozen: "This account accepts no writes while it is being moved or erased. Try again in 30 s.",
};

const problemIds: Readonly<Record<string, string>> = {
  lead_exists: leadId,
  conversation_exists: conversationId,
  conversation_changed: conversationId,
};

/** A response of each problem. */
export const problemExamples = {
  invalid_input: invalidInputExample,
  unsupported_media_type: toBody(unsupportedType("text/plain")),
  ...Object.fromEntries(
    Object.entries(problemDetails).map(([code, detail]) => {
      const id = problemIds[code];
      return [code, toBody(new ApiError(code as ProblemCode, detail, { ...(id && { id }) }))];
    }),
  ),
} as Readonly<Record<ProblemCode, object>>;

function toBody(error: ApiError): object {
  return JSON.parse(problemResponse(error, requestId).body);
}
