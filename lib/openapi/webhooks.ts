import type { EventType } from "../../shared/domain/event-schemas.ts";
import { toReference } from "./components.ts";
import { envelopeExample, envelopeSchemas } from "./event-envelopes.ts";
import { pascalCase } from "./pascal-case.ts";

/** When each event is sent. */
const eventTexts: Record<EventType, { summary: string; description: string }> = {
  "lead.created": {
    summary: "A lead was created",
    description:
      "Sent for each lead that a request creates or, with `imported`, an operator imports. It has no name.",
  },
  "conversation.started": {
    summary: "A conversation was started",
    description: "Sent for each conversation, which its first message starts.",
  },
  "message.sent": {
    summary: "A message was sent",
    description: "Sent for each message. A connector delivers it to the channel.",
  },
  "lead.erased": {
    summary: "A lead was erased",
    description:
      "Sent once an operator erases a lead. Delete everything that you keep of it, and ignore its late events.",
  },
  "lead.updated": {
    summary: "A lead was changed",
    description:
      "Sent when a request or an operator's command changes a stored lead. It has the whole lead after the change.",
  },
  "conversation.updated": {
    summary: "A conversation was changed",
    description:
      "Sent when an operator's command changes a stored conversation, not when a message is sent. It has the whole conversation after the change.",
  },
};

const delivery =
  "EventBridge sends it at least once and in no order, to a target that a rule names. Deduplicate by `detail.id`. A replay of the archive sends it again, with `replay-name`.";

const webhook = (type: EventType, schema: object) => ({
  operationId: `receive${pascalCase(type)}`,
  tags: ["Events"],
  summary: eventTexts[type].summary,
  description: `${eventTexts[type].description} ${delivery}`,
  // The receiver decides how a rule's target authenticates.
  security: [],
  requestBody: {
    required: true,
    content: { "application/json": { schema: toReference(schema), example: envelopeExample(type) } },
  },
  responses: {
    204: { description: "The event was received. After a response other than 2xx, it is sent again." },
  },
});

/** What the service sends, by the type of the event. */
export const webhooks = Object.fromEntries(
  [...envelopeSchemas].map(([type, schema]) => [type, { post: webhook(type, schema) }]),
);
