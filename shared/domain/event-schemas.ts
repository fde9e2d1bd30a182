import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { conversation, lead, message } from "../schemas.ts";

/** Raised when a field goes or changes its meaning. */
const version = { const: 1 } as const satisfies JSONSchema;

const idSchema = (prefix: string) =>
  ({ type: "string", pattern: `^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$` }) as const satisfies JSONSchema;

const account = { type: "string", minLength: 1 } as const satisfies JSONSchema;
const { createdAt } = message.properties;

/** A message was sent: all that a channel's connector needs to deliver it, but for the lead's address. */
const messageSent = {
  type: "object",
  properties: {
    type: { const: "message.sent" },
    version,
    id: idSchema("msg"),
    account,
    leadId: message.properties.leadId,
    conversationId: message.properties.conversationId,
    channel: message.properties.channel,
    message: message.properties.message,
    createdAt,
  },
  required: [
    "type",
    "version",
    "id",
    "account",
    "leadId",
    "conversationId",
    "channel",
    "message",
    "createdAt",
  ],
} as const satisfies JSONSchema;

/** A lead was created: where it can be reached, and nothing else of the person. */
const leadCreated = {
  type: "object",
  properties: {
    type: { const: "lead.created" },
    version,
    id: idSchema("lead"),
    account,
    email: lead.properties.email,
    source: lead.properties.source,
    createdAt,
  },
  required: ["type", "version", "id", "account", "createdAt"],
} as const satisfies JSONSchema;

/** A conversation was started, by its first message. */
const conversationStarted = {
  type: "object",
  properties: {
    type: { const: "conversation.started" },
    version,
    id: idSchema("conv"),
    account,
    leadId: conversation.properties.leadId,
    channel: conversation.properties.channel,
    createdAt,
  },
  required: ["type", "version", "id", "account", "leadId", "channel", "createdAt"],
} as const satisfies JSONSchema;

/** The JSON Schema of each event's `detail`, by its `detail-type`. Fields may join within a version. */
export const eventSchemas = {
  "lead.created": leadCreated,
  "conversation.started": conversationStarted,
  "message.sent": messageSent,
} as const;

export type EventType = keyof typeof eventSchemas;

/** The `detail` of an event. */
export type ServiceEvent = FromSchema<(typeof eventSchemas)[EventType]>;
