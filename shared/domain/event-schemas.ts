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
      version: { type: "integer", const: 1 },
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

const changed = { type: "array", maxItems: 10, items: label } as const satisfies JSONSchema;

const change = { leadId: id, changed } as const;

/**
 * The JSON Schema of each event's `detail`, by its `detail-type`. New fields may be added within a version. What the events
 * and their fields mean is in `lib/openapi/webhooks.ts`.
 */
export const eventSchemas = {
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
      imported: { type: "boolean" },
      importId: id,
    },
  ),
  "conversation.started": eventSchema("conversation.started", "conv", { leadId: id, channel: label }),
  "message.sent": eventSchema("message.sent", "msg", messageFields, {
    metadata,
    to: leadAddress,
    template: message.properties.template,
    delivery: message.properties.delivery,
  }),
  // It has its own type, because a rule that delivers messages must not send it back.
  "message.received": eventSchema("message.received", "msg", messageFields, { metadata }),
  "lead.erased": eventSchema("lead.erased", "erasure", { leadId: id }),
  "lead.updated": eventSchema("lead.updated", "change", { ...change, lead }),
  "conversation.updated": eventSchema("conversation.updated", "change", {
    ...change,
    conversationId: id,
    channel: label,
    conversation,
  }),
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
