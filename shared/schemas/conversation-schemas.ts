import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import {
  conversationIdFilter,
  type IdsDescription,
  id,
  idsFilter,
  label,
  leadIdFilter,
  messageIdFilter,
  messageText,
  metadata,
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

/** The status of a conversation that messages join. */
export const active = "active";

/** The query of `GET /api/v1/conversations`, as strings, the way it arrives; ids are split. */
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
  id: "Only the conversations with these ids, at most 100, separated by commas." satisfies IdsDescription,
  leadId: "Only conversations with this lead.",
  channel: "Only conversations on this channel, for example instagram, whatsapp; in any letter case.",
  status: "Only conversations with this status, in any letter case.",
  createdAfter: "Only conversations that started at this time or later.",
  createdBefore: "Only conversations that started before this time.",
  lastMessageAfter: "Only conversations whose last message was sent at this time or later.",
  lastMessageBefore: "Only conversations whose last message was sent before this time.",
  sort: "The order: `-createdAt`, the newest first, is the default. With `createdAt`, the oldest first, new conversations come at the end: read everything in this order, as the guide says. With `-lastMessageAt` and `lastMessageAt`, each message moves its conversation: whoever reads on to the next page can miss some and meet others twice. Such a list ends after 2,000 conversations; go on with `lastMessageAfter` and `lastMessageBefore`, which bound what is counted.",
  include: "With `messages`, and exactly one `id`, the conversation has its newest messages.",
  messageLimit: "How many messages, with `include`: 20 by default.",
  messagesBefore:
    "Only messages before the one with this id, with `include`: send the id of the oldest one that you have.",
};

/** A conversation in a response. */
export const conversation = {
  type: "object",
  properties: {
    id,
    leadId: id,
    channel: label,
    status: label,
    lastMessageAt: timestamp,
    messageCount: { type: "integer", minimum: 1 },
  },
  required: ["id", "leadId", "channel", "status", "lastMessageAt", "messageCount"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const conversationDescriptions: Descriptions<typeof conversation> = {
  id: "Identifier, of the form `conv_<ULID>`: the ULID has the time of its creation.",
  leadId: "The lead of the conversation.",
  channel: "Channel, for example instagram, whatsapp; stored in lower case.",
  status: "`active`, and another status, such as `closed`, once the conversation has ended.",
  lastMessageAt: "Time of the last message, in UTC.",
  messageCount: "Number of messages in the conversation.",
};

/** The body of `POST /api/v1/conversations`. */
export const newMessage = {
  type: "object",
  properties: { leadId: id, channel: label, message: messageText, metadata },
  required: ["leadId", "channel", "message"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const newMessageDescriptions: Descriptions<typeof newMessage> = {
  leadId: "The lead to send to.",
  channel: "Channel, for example instagram, whatsapp; stored in lower case.",
  message: "The text, not blank; it may contain line breaks and tabs.",
  metadata: "Your own data, which connectors get with the message: at most 10 names and 1,024 bytes as JSON.",
};

/** A sent message in a response: it never changes later. */
export const message = {
  type: "object",
  properties: {
    id,
    conversationId: id,
    leadId: id,
    channel: label,
    message: messageText,
    metadata,
    createdAt: timestamp,
  },
  required: ["id", "conversationId", "leadId", "channel", "message", "createdAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const messageDescriptions: Descriptions<typeof message> = {
  id: "Identifier, of the form `msg_<ULID>`.",
  conversationId: "The conversation that the message joined or started.",
  leadId: "The lead that the message was sent to.",
  channel: "The channel that the message was sent on.",
  message: "The text, as sent.",
  metadata: "The metadata, as sent.",
  createdAt: "Time of sending, in UTC.",
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
export type Message = FromSchema<typeof message>;
