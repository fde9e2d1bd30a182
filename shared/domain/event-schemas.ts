import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { ulidPattern } from "../ids.ts";
import { email, id, label, messageText, timestamp } from "../schemas/field-schemas.ts";

/** Raised when a field is removed or changes its meaning. */
const version = { type: "integer", const: 1 } as const satisfies JSONSchema;

const idSchema = (prefix: string) =>
  ({ type: "string", pattern: `^${prefix}_${ulidPattern}$` }) as const satisfies JSONSchema;

const common = ["type", "version", "id", "account", "createdAt"] as const;

const account = { type: "string", minLength: 1 } as const satisfies JSONSchema;

/** Only in an event that an operator sends again, with the id of the first one. */
const repeated = { type: "boolean" } as const satisfies JSONSchema;

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
    createdAt: timestamp,
    repeated,
  },
  required: [...common, "leadId", "conversationId", "channel", "message"],
} as const satisfies JSONSchema;

/** A lead was created: where to reach the person, and nothing else about them. */
const leadCreated = {
  type: "object",
  properties: {
    type: { type: "string", const: "lead.created" },
    version,
    id: idSchema("lead"),
    account,
    email,
    source: label,
    createdAt: timestamp,
    repeated,
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
    repeated,
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
    repeated,
  },
  required: [...common, "leadId"],
} as const satisfies JSONSchema;

/** The JSON Schema of each event's `detail`, by its `detail-type`. New fields may be added within a version. */
export const eventSchemas = {
  "lead.created": leadCreated,
  "conversation.started": conversationStarted,
  "message.sent": messageSent,
  "lead.erased": leadErased,
} as const;

export type EventType = keyof typeof eventSchemas;

/** The `detail` of an event. */
export type ServiceEvent = FromSchema<(typeof eventSchemas)[EventType]>;
