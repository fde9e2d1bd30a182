import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import {
  conversationIdFilter,
  deliveryError,
  id,
  idsFilter,
  label,
  leadAddress,
  leadIdFilter,
  messageIdFilter,
  messageText,
  metadata,
  name,
  providerId,
  timestamp,
} from "./field-schemas.ts";
import {
  creationOrders,
  limit,
  maxLimit,
  page,
  pageSchema,
  type pagingDescriptions,
} from "./page-schemas.ts";
import type { Descriptions } from "./record.ts";
import { templateName, visible } from "./text-rules.ts";

/** The status of a conversation that messages join. */
export const active = "active";

/** Who wrote a message: the account, or the lead. */
const direction = { type: "string", enum: ["outbound", "inbound"] } as const satisfies JSONSchema;

/** How far a message has got, from the first state to the last. A report of an earlier state changes nothing. */
export const deliveryStates = ["sent", "failed", "delivered", "read"] as const;

const delivery = { type: "string", enum: deliveryStates } as const satisfies JSONSchema;

/** The query of `GET /api/v1/conversations` as it arrives: values are strings, and ids are split. */
export const conversationsQuery = {
  type: "object",
  properties: {
    page,
    limit,
    id: /* @__PURE__ */ idsFilter(conversationIdFilter),
    leadId: leadIdFilter,
    channel: label,
    status: label,
    createdAfter: timestamp,
    createdBefore: timestamp,
    lastMessageAfter: timestamp,
    lastMessageBefore: timestamp,
    awaitingReply: { type: "string", enum: ["true"] },
    awaitingReplyAfter: timestamp,
    awaitingReplyBefore: timestamp,
    sort: { type: "string", enum: [...creationOrders, "-lastMessageAt", "lastMessageAt"] },
    include: { type: "string", enum: ["messages"] },
    messageLimit: limit,
    messagesBefore: messageIdFilter,
  },
  additionalProperties: false,
} as const satisfies JSONSchema;

export const conversationsQueryDescriptions: Descriptions<
  typeof conversationsQuery,
  keyof typeof pagingDescriptions
> = {
  id: "Only the conversations with these ids, at most 100, separated by commas.",
  leadId: "Only conversations with this lead.",
  channel: "Only conversations on this channel, for example instagram, whatsapp; in any letter case.",
  status: "Only conversations with this status, in any letter case.",
  createdAfter: "Only conversations that started at this time or later.",
  createdBefore: "Only conversations that started before this time.",
  lastMessageAfter: "Only conversations whose last message was stored at this time or later.",
  lastMessageBefore: "Only conversations whose last message was stored before this time.",
  awaitingReply:
    "With `true`, only conversations whose lead waits for a reply, the longest waiting first: all of them are `active`. It cannot be combined with `sort`, `lastMessageAfter` and `lastMessageBefore`.",
  awaitingReplyAfter:
    "With `awaitingReply`: only conversations whose lead began to wait at this time or later.",
  awaitingReplyBefore: "With `awaitingReply`: only conversations whose lead began to wait before this time.",
  sort: "The order: `-createdAt`, the newest first, is the default. With `createdAt`, the oldest first, new conversations come at the end: read everything in this order, as the guide says. With `-lastMessageAt` and `lastMessageAt`, each message moves its conversation, so reading by page numbers can skip or repeat conversations. The `next` links of `lastMessageAt` continue from the time of the last row, so they miss none. A list in either order ends after 2,000 conversations: the `next` link of its last page continues it in the same way.",
  include: "With `messages`, and exactly one `id`, the conversation has its newest messages.",
  messageLimit: "How many messages, with `include`: 20 by default.",
  messagesBefore:
    "Only messages before the one with this id, with `include`: send the id of the oldest one that you have.",
};

/** The last message of a conversation, with the beginning of its text. */
export const lastMessage = {
  type: "object",
  properties: { direction, text: { type: "string", maxLength: 100 } },
  required: ["direction", "text"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const lastMessageDescriptions: Descriptions<typeof lastMessage> = {
  direction: "`outbound`, or `inbound` if the lead wrote it.",
  text: "The beginning of its text: at most 100 characters, and fewer if most of them have more than two bytes.",
};

/** A conversation in a response. */
export const conversation = {
  type: "object",
  properties: {
    id,
    leadId: id,
    channel: label,
    status: label,
    createdAt: timestamp,
    lastMessageAt: timestamp,
    messageCount: { type: "integer", minimum: 1 },
    lastMessage,
    lastInboundAt: timestamp,
    awaitingReplySince: timestamp,
  },
  required: [
    "id",
    "leadId",
    "channel",
    "status",
    "createdAt",
    "lastMessageAt",
    "messageCount",
    "lastMessage",
  ],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const conversationDescriptions: Descriptions<typeof conversation> = {
  id: "Identifier, of the form `conv_<ULID>`.",
  leadId: "The lead of the conversation.",
  channel: "Channel, for example instagram, whatsapp; stored in lower case.",
  status: "`active`, and another status, such as `closed`, once the conversation has ended.",
  createdAt: "Creation time, in UTC.",
  lastMessageAt: "Time of the last message, in UTC.",
  messageCount: "Number of messages in the conversation.",
  lastMessage: "The last message, with the beginning of its text.",
  lastInboundAt:
    "Time of the lead's last message, in UTC, if there is one: some channels allow free texts for 24 hours after it.",
  awaitingReplySince:
    "Since when the lead has waited for a reply, in UTC: the time of their first message after your last one that has not failed. Absent after a reply, unless it fails, and after the end of the conversation.",
};

/** The query of `POST /api/v1/conversations`. */
export const sendMessageQuery = {
  type: "object",
  properties: { update: { type: "string", enum: ["message", "conversation"] } },
  additionalProperties: false,
} as const satisfies JSONSchema;

export const sendMessageQueryDescriptions: Descriptions<typeof sendMessageQuery> = {
  update:
    "With `message`, the request stores the delivery state of a message. With `conversation`, it ends a conversation, or makes it active again.",
};

/** A template that Meta has approved: the only way to write first on WhatsApp, or after more than 24 hours. */
export const template = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 512, pattern: templateName },
    language: { type: "string", minLength: 1, maxLength: 15, pattern: visible },
    parameters: { type: "array", maxItems: 20, items: { ...name, maxLength: 1024 } },
  },
  required: ["name", "language"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The template of a request. The OpenAPI document has the limits of requests, and no limits of responses. */
export const newTemplate = { ...template } as const satisfies JSONSchema;

export const templateDescriptions: Descriptions<typeof template> = {
  name: "Its name at Meta: lower-case letters, digits and underscores.",
  language: "Its language at Meta, such as `en_US`.",
  parameters:
    "The values of the placeholders in its body, in their order: each on one line, and not blank. Leave it out if the template has none.",
};

/** The body of `POST /api/v1/conversations`. */
export const newMessage = {
  type: "object",
  properties: {
    leadId: id,
    channel: label,
    direction,
    message: messageText,
    template: newTemplate,
    metadata,
  },
  required: ["leadId", "channel", "message"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const newMessageDescriptions: Descriptions<typeof newMessage> = {
  leadId: "The lead to send to, or who wrote.",
  channel: "Channel, for example instagram, whatsapp; stored in lower case.",
  direction:
    "`outbound`, the default, or `inbound` for a message that the lead wrote: no connector delivers it.",
  message: "The text, not blank; it may contain line breaks and tabs.",
  template:
    "Only of an outbound message: the template that WhatsApp sends in place of the text. Lists show the text. Without a template, WhatsApp refuses a message to a lead who has not written for 24 hours. At most 3,072 bytes as JSON.",
  metadata: "Your own data, which connectors get with the message: at most 10 names and 1,024 bytes as JSON.",
};

/** The body of `POST /api/v1/conversations?update=message`. */
export const messageUpdate = {
  type: "object",
  properties: { id, conversationId: id, delivery, deliveryError, providerId },
  required: ["id", "conversationId", "delivery"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const messageUpdateDescriptions: Descriptions<typeof messageUpdate> = {
  id: "The outbound message.",
  conversationId: "The conversation of the message.",
  delivery:
    "Its delivery state: `sent`, `failed`, `delivered` or `read`. It never goes back: an earlier state than the stored one is ignored.",
  deliveryError:
    "Why it failed, for example the provider's code and text, at most 500 characters; only with `failed`. It must not begin with `Given up: `, as a message does that the service has given up.",
  providerId: "The id of the message at the channel's provider, without spaces.",
};

/** The body of `POST /api/v1/conversations?update=conversation`. */
export const conversationUpdate = {
  type: "object",
  properties: {
    id,
    status: label,
    messageCount: { type: "integer", minimum: 1, maximum: 2 ** 31 - 1 },
  },
  required: ["id", "status"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const conversationUpdateDescriptions: Descriptions<typeof conversationUpdate> = {
  id: "The conversation.",
  status:
    "Its new status. Every status except `active`, such as `closed`, ends the conversation. Stored in lower case. A lead has at most one active conversation on a channel.",
  messageCount:
    "The `messageCount` that you have read. If the conversation has another one now, because somebody has written since, nothing changes, and the response is 409 `conversation_changed`.",
};

/** A message in a response. */
export const message = {
  type: "object",
  properties: {
    id,
    conversationId: id,
    leadId: id,
    channel: label,
    direction,
    to: leadAddress,
    message: messageText,
    template,
    metadata,
    delivery,
    deliveryError,
    providerId,
    createdAt: timestamp,
  },
  required: ["id", "conversationId", "leadId", "channel", "direction", "message", "createdAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const messageDescriptions: Descriptions<typeof message> = {
  id: "Identifier, of the form `msg_<ULID>`.",
  conversationId: "The conversation that the message joined or started.",
  leadId: "The lead that the message was sent to, or that wrote it.",
  channel: "The channel that the message was sent on.",
  direction: "`outbound`, or `inbound` if the lead wrote it.",
  to: "The address of the lead on the channel to which an outbound message goes, if the lead had one. The response to the request that sends the message does not contain it.",
  message: "The text, as sent.",
  template: "The template that WhatsApp sends in place of the text, if the message has one.",
  metadata: "The metadata, as sent.",
  delivery:
    "The delivery state of an outbound message, once the service or a connector has reported it: `sent`, `failed`, `delivered` or `read`.",
  deliveryError: "Why it failed, if the report says so.",
  providerId: "The id of the message at the channel's provider, if a report contained it.",
  createdAt: "When the message was stored, in UTC.",
};

/** A conversation in a list, with its newest messages if the query includes them. */
export const openedConversation = {
  ...conversation,
  properties: { ...conversation.properties, messages: { type: "array", maxItems: maxLimit, items: message } },
} as const satisfies JSONSchema;

export const openedConversationDescriptions: Descriptions<typeof openedConversation> = {
  ...conversationDescriptions,
  messages: "With `include=messages`: its messages, newest first.",
};

/** The response of `GET /api/v1/conversations`. */
export const conversationsPage = /* @__PURE__ */ pageSchema(openedConversation);

export type ConversationsQuery = FromSchema<typeof conversationsQuery>;
export type Conversation = FromSchema<typeof conversation>;
export type OpenedConversation = FromSchema<typeof openedConversation>;
export type NewMessage = FromSchema<typeof newMessage>;
export type MessageUpdate = FromSchema<typeof messageUpdate>;
export type ConversationUpdate = FromSchema<typeof conversationUpdate>;
export type Message = FromSchema<typeof message>;
