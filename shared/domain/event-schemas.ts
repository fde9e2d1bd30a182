import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { ulidPattern } from "../ids.ts";
import { conversation } from "../schemas/conversation-schemas.ts";
import { email, externalId, id, label, messageText, metadata, timestamp } from "../schemas/field-schemas.ts";
import { lead } from "../schemas/lead-schemas.ts";

/** Raised when a field is removed or changes its meaning. */
const version = { type: "integer", const: 1 } as const satisfies JSONSchema;

const idSchema = (prefix: string) =>
  ({ type: "string", pattern: `^${prefix}_${ulidPattern}$` }) as const satisfies JSONSchema;

const common = ["type", "version", "id", "account", "createdAt"] as const;

const account = { type: "string", minLength: 1 } as const satisfies JSONSchema;

/** The names of the record's fields that changed. */
const changed = { type: "array", maxItems: 8, items: label } as const satisfies JSONSchema;

/** A message was sent: everything that a channel's connector needs to deliver it, but the lead's address. */
const messageSent = {
  type: "object",
  properties: {
    type: { type: "string", const: "message.sent" },
    version,
    id: idSchema("msg"),
    account,
    leadId: id,
    conversationId: id,
    channel: label,
    message: messageText,
    metadata,
    createdAt: timestamp,
  },
  required: [...common, "leadId", "conversationId", "channel", "message"],
} as const satisfies JSONSchema;

/** A lead was created: where to reach the person, and what the caller knows them by. */
const leadCreated = {
  type: "object",
  properties: {
    type: { type: "string", const: "lead.created" },
    version,
    id: idSchema("lead"),
    account,
    externalId,
    email,
    source: label,
    metadata,
    /** Only if an operator imported the lead. */
    imported: { type: "boolean" },
    createdAt: timestamp,
  },
  required: common,
} as const satisfies JSONSchema;

/** A conversation was started, by its first message. */
const conversationStarted = {
  type: "object",
  properties: {
    type: { type: "string", const: "conversation.started" },
    version,
    id: idSchema("conv"),
    account,
    leadId: id,
    channel: label,
    createdAt: timestamp,
  },
  required: [...common, "leadId", "channel"],
} as const satisfies JSONSchema;

/** A lead was erased: who keeps data of the person deletes it, too. */
const leadErased = {
  type: "object",
  properties: {
    type: { type: "string", const: "lead.erased" },
    version,
    id: idSchema("erasure"),
    account,
    leadId: id,
    createdAt: timestamp,
  },
  required: [...common, "leadId"],
} as const satisfies JSONSchema;

const change = {
  version,
  id: idSchema("change"),
  account,
  leadId: id,
  createdAt: timestamp,
  changed,
};

/** A request or an operator's command changed a lead: the whole lead after it. */
const leadUpdated = {
  type: "object",
  properties: { type: { type: "string", const: "lead.updated" }, ...change, lead },
  required: [...common, "leadId", "changed", "lead"],
} as const satisfies JSONSchema;

/** An operator's command changed a conversation: the whole conversation after it. Messages change it without an event. */
const conversationUpdated = {
  type: "object",
  properties: {
    type: { type: "string", const: "conversation.updated" },
    ...change,
    conversationId: id,
    channel: label,
    conversation,
  },
  required: [...common, "leadId", "changed", "conversationId", "channel", "conversation"],
} as const satisfies JSONSchema;

/** The JSON Schema of each event's `detail`, by its `detail-type`. New fields may be added within a version. */
export const eventSchemas = {
  "lead.created": leadCreated,
  "conversation.started": conversationStarted,
  "message.sent": messageSent,
  "lead.erased": leadErased,
  "lead.updated": leadUpdated,
  "conversation.updated": conversationUpdated,
} as const;

export type EventType = keyof typeof eventSchemas;

/** The `detail` of an event. */
export type ServiceEvent = FromSchema<(typeof eventSchemas)[EventType]>;
