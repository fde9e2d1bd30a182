import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { ulidPattern } from "../ids.ts";
import { conversation, message } from "../schemas/conversation-schemas.ts";
import {
  addresses,
  email,
  externalId,
  id,
  label,
  leadAddress,
  messageText,
  metadata,
  timestamp,
} from "../schemas/field-schemas.ts";
import { lead } from "../schemas/lead-schemas.ts";

/** Raised when a field is removed or changes its meaning. */
const version = { type: "integer", const: 1 } as const satisfies JSONSchema;

/** The schema of an event: the fields that all events have, and its own, of which some are optional. */
const eventSchema = <Type extends string, const Fields extends object, const Optional extends object>(
  type: Type,
  idPrefix: string,
  fields: Fields,
  optional = {} as Optional,
) =>
  ({
    type: "object",
    properties: {
      type: { type: "string", const: type },
      version,
      id: { type: "string", pattern: `^${idPrefix}_${ulidPattern}$` },
      account: { type: "string", minLength: 1 },
      ...fields,
      ...optional,
      createdAt: timestamp,
    },
    required: [
      ...(["type", "version", "id", "account", "createdAt"] as const),
      ...(Object.keys(fields) as (keyof Fields)[]),
    ],
  }) as const;

const messageFields = {
  leadId: id,
  conversationId: id,
  channel: label,
  direction: message.properties.direction,
  message: messageText,
} as const;

/** The names of the record's fields that changed. */
const changed = { type: "array", maxItems: 10, items: label } as const satisfies JSONSchema;

const change = { leadId: id, changed } as const;

/** The JSON Schema of each event's `detail`, by its `detail-type`. New fields may be added within a version. */
export const eventSchemas = {
  /** A lead was created: where to reach the person, and what the caller knows them by. */
  "lead.created": eventSchema(
    "lead.created",
    "lead",
    {},
    {
      externalId,
      email,
      source: label,
      addresses,
      metadata,
      /** Only if an operator imported the lead. */
      imported: { type: "boolean" },
      /** The id of the import or the copy that stored the lead. */
      importId: id,
    },
  ),
  /** A conversation was started, by its first message. */
  "conversation.started": eventSchema("conversation.started", "conv", { leadId: id, channel: label }),
  /** A message to a lead was sent: everything that a channel's connector needs to deliver it. */
  "message.sent": eventSchema("message.sent", "msg", messageFields, {
    metadata,
    to: leadAddress,
    template: message.properties.template,
    /** Only if it was sent before it was stored. */
    delivery: message.properties.delivery,
  }),
  /** A message from a lead was stored. It has its own type, because a rule that delivers messages must not send it back. */
  "message.received": eventSchema("message.received", "msg", messageFields, { metadata }),
  /** A lead was erased: consumers that keep data of the person must also delete it. */
  "lead.erased": eventSchema("lead.erased", "erasure", { leadId: id }),
  /** A request or an operator's command changed a lead: the whole lead after it. */
  "lead.updated": eventSchema("lead.updated", "change", { ...change, lead }),
  /** A request or an operator's command changed a conversation: the whole conversation after it. Messages change it without an event. */
  "conversation.updated": eventSchema("conversation.updated", "change", {
    ...change,
    conversationId: id,
    channel: label,
    conversation,
  }),
  /** A connector reported how far a message has got, or an operator's command changed it: the whole message after it. */
  "message.updated": eventSchema("message.updated", "change", {
    ...change,
    conversationId: id,
    messageId: id,
    channel: label,
    message,
  }),
} as const;

export type EventType = keyof typeof eventSchemas;

/** The `detail` of an event. */
export type ServiceEvent = FromSchema<(typeof eventSchemas)[EventType]>;
