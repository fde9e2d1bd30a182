import { type EventType, eventSchemas } from "../../shared/domain/event-schemas.ts";
import { eventSource } from "../../shared/domain/events.ts";
import { timestamp } from "../../shared/schemas/field-schemas.ts";
import { eventDetailExamples } from "./examples.ts";
import { pascalCase } from "./problem-schemas.ts";

const eventTexts: Readonly<Record<EventType, readonly [summary: string, description: string]>> = {
  "lead.created": [
    "A lead was created",
    "Sent for each lead that a request creates or, with `imported`, an operator imports. It does not contain the lead's name.",
  ],
  "conversation.started": [
    "A conversation was started",
    "Sent for each conversation, when its first message starts it.",
  ],
  "message.sent": [
    "A message was sent",
    "Sent for each message to a lead. A connector delivers it to the channel.",
  ],
  "message.received": [
    "A message of a lead was stored",
    "Sent for each message that a lead wrote. It needs no delivery.",
  ],
  "lead.erased": [
    "A lead was erased",
    "Sent when an operator erases a lead. Delete everything that you store about the lead, and ignore its events that arrive later.",
  ],
  "lead.updated": [
    "A lead was changed",
    "Sent when a request or an operator's command changes a stored lead. It has the whole lead after the change.",
  ],
  "conversation.updated": [
    "A conversation was changed",
    "Sent when a request ends a conversation or makes it active again, when its lead waits again because a reply failed, and when an operator's command changes it. A stored message does not cause it. It has the whole conversation after the change.",
  ],
  "message.updated": [
    "A message was changed",
    "Sent when a delivery report or an operator's command changes a message. It has the whole message after the change.",
  ],
};

const detailDescriptions = {
  type: "The same as `detail-type`, for targets that receive only the detail.",
  version: "Raised when a field is removed or changes its meaning.",
  id: "The id of the lead, conversation, message, erasure or change. Deduplicate by it.",
  account: "The account that owns the data.",
  leadId: "The lead of the conversation, message, erasure or change.",
  conversationId: "The conversation of the message or change.",
  channel: "The channel of the conversation.",
  messageId: "The message of the change.",
  direction: "`outbound`, or `inbound` if the lead wrote it.",
  message: "The text, as sent. In `message.updated`, the whole message after the change.",
  externalId: "Your own id of the lead, if it has one.",
  addresses: "The lead's addresses by channel, if it has any.",
  to: "The lead's first address on the channel, if it has one.",
  template: "The template that WhatsApp sends in place of the text, if the message has one.",
  delivery:
    "Only if the message was written in the channel's own app, and must not be delivered again: `sent`, `failed`, `delivered` or `read`.",
  email: "Email address of the lead, if it has one.",
  source: "Origin channel of the lead, if it has one.",
  metadata: "Your own data of the lead or message, if it has some.",
  imported: "True if an operator imported the lead, which may be old.",
  importId: "The import or copy that stored the lead, if there was one.",
  changed: "The names of the fields that changed.",
  lead: "The lead after the change.",
  conversation: "The conversation after the change.",
  createdAt: "The creation time of what `id` names, in UTC.",
};

/** An event as EventBridge sends it to the target of a rule. */
const envelopeSchema = (type: EventType) => ({
  type: "object",
  properties: {
    version: { type: "string", description: "The version of the envelope." },
    id: {
      type: "string",
      description: "EventBridge's id. The same event can arrive again with another one.",
    },
    "detail-type": { type: "string", const: type, description: "The type of the event." },
    source: { type: "string", const: eventSource, description: "The source of all events." },
    account: { type: "string", description: "The AWS account of the service." },
    "replay-name": {
      type: "string",
      description: "The replay that sent the event again, if one did.",
    },
    time: { ...timestamp, description: "When the event was put on the bus, in UTC." },
    region: { type: "string", description: "The AWS region of the service." },
    resources: { type: "array", items: { type: "string" }, description: "Always empty." },
    detail: eventSchemas[type],
  },
  required: ["version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail"],
});

const eventTypes = Object.keys(eventSchemas) as EventType[];

const envelopeExample = (type: EventType) => ({
  version: "0",
  id: "7d9e3f4c-8f1d-4d8e-9c39-0c2b4a1f6e52",
  "detail-type": type,
  source: eventSource,
  account: "123456789012",
  time: "2026-11-21T01:59:01Z",
  region: "eu-central-1",
  resources: [],
  detail: eventDetailExamples[type],
});

/** The named schemas of events: `LeadCreated` is the detail of `lead.created`, and `LeadCreatedEvent` has its envelope. */
export const eventComponents = Object.fromEntries(
  eventTypes.flatMap((type) => {
    const name = pascalCase(type);
    // The examples of events have no `imported`, `importId`, `delivery` and `replay-name`.
    const example = {
      ...eventDetailExamples[type],
      imported: true,
      importId: "import_01M7ZA27P008RGE6JH5PA0WR2V",
      delivery: "sent",
    };
    const envelopeFields = { ...envelopeExample(type), "replay-name": "whatsapp-again" };
    return [
      [name, [eventSchemas[type], example, detailDescriptions] as const],
      [`${name}Event`, [envelopeSchema(type), envelopeFields] as const],
    ];
  }),
);

const delivery =
  "EventBridge sends it at least once and in any order, to the target of a rule. Deduplicate by `detail.id`. A replay of the archive sends it again, with `replay-name`.";

function webhook(type: EventType) {
  const [summary, description] = eventTexts[type];
  return {
    operationId: `receive${pascalCase(type)}`,
    tags: ["Events"],
    summary,
    description: `${description} ${delivery}`,
    // The receiver decides how a rule's target authenticates.
    security: [],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${pascalCase(type)}Event` },
          example: envelopeExample(type),
        },
      },
    },
    responses: {
      204: { description: "The event was received. After a response other than 2xx, it is sent again." },
    },
  };
}

/** The webhooks of the document, by the type of the event. */
export const webhooks = Object.fromEntries(eventTypes.map((type) => [type, { post: webhook(type) }]));
