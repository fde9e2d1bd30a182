import { routes } from "../../shared/routes.ts";
import * as conversations from "../../shared/schemas/conversation-schemas.ts";
import * as leads from "../../shared/schemas/lead-schemas.ts";
import { pageDescriptions, pagination, paginationDescriptions } from "../../shared/schemas/page-schemas.ts";
import { gatewayMessages } from "../gateway-messages.ts";
import {
  leadExample,
  requestExamples,
  responseExamples,
  updatedExamples,
  updateExamples,
  waitingConversation,
} from "./examples.ts";
import { withoutLimits, withPortablePattern } from "./portable-patterns.ts";
import { faultSchema, gatewayError, problemComponents } from "./problem-schemas.ts";
import { eventComponents } from "./webhooks.ts";

interface Component {
  readonly schema: {
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  };
  /** Of the properties that have none in the schema. */
  readonly descriptions?: Readonly<Record<string, string>>;
  /** A valid value, which has the examples of the properties. */
  readonly example: object;
}

const { "list-leads": leadsPage, "list-conversations": conversationsPage } = responseExamples;
const faultExample = {
  in: "body",
  field: "tags[3]",
  code: "too_short",
  message: "must have at least 1 character",
};

/**
 * The body of a lead, whatever the query: generators make up a name for a choice of schemas. What it is without `ifExists`,
 * descriptions say.
 */
export const leadBody = { ...leads.leadUpdate, required: [] };

/**
 * What an update returns, of a message or a conversation: one open object, because generated clients in Java and other
 * languages refuse a choice for which an object of either kind would do.
 */
export const updatedRecord = {
  type: "object",
  properties: { ...conversations.message.properties, ...conversations.conversation.properties },
  required: ["id", "leadId", "channel", "createdAt"],
} as const;

/** The bodies of a route that takes several: a choice with a name, because generators make up one. */
export const messageBodies = {
  oneOf: [conversations.newMessage, conversations.messageUpdate, conversations.conversationUpdate],
};

/** The named schemas of the document. */
const components: Readonly<Record<string, Component>> = {
  Lead: {
    schema: leads.lead,
    descriptions: leads.leadDescriptions,
    example: updatedExamples.lead,
  },
  NewLead: {
    schema: leadBody,
    descriptions: { ...leads.leadDescriptions, ...leads.newLeadDescriptions },
    example: leadExample,
  },
  LeadsPage: { schema: leads.leadsPage, descriptions: pageDescriptions, example: leadsPage },
  Conversation: {
    schema: conversations.conversation,
    descriptions: conversations.conversationDescriptions,
    example: waitingConversation,
  },
  LastMessage: {
    schema: conversations.lastMessage,
    descriptions: conversations.lastMessageDescriptions,
    example: waitingConversation.lastMessage,
  },
  OpenedConversation: {
    schema: conversations.openedConversation,
    descriptions: conversations.openedConversationDescriptions,
    example: { ...waitingConversation, messages: [responseExamples["send-message"]] },
  },
  ConversationsPage: {
    schema: conversations.conversationsPage,
    descriptions: pageDescriptions,
    example: conversationsPage,
  },
  Template: {
    schema: conversations.template,
    descriptions: conversations.templateDescriptions,
    example: requestExamples["send-message"].template,
  },
  NewTemplate: {
    schema: conversations.newTemplate,
    descriptions: conversations.templateDescriptions,
    example: requestExamples["send-message"].template,
  },
  Message: {
    schema: conversations.message,
    descriptions: conversations.messageDescriptions,
    example: updatedExamples.message,
  },
  NewMessage: {
    schema: conversations.newMessage,
    descriptions: conversations.newMessageDescriptions,
    example: requestExamples["send-message"],
  },
  MessageUpdate: {
    schema: conversations.messageUpdate,
    descriptions: conversations.messageUpdateDescriptions,
    example: updateExamples.message,
  },
  ConversationUpdate: {
    schema: conversations.conversationUpdate,
    descriptions: conversations.conversationUpdateDescriptions,
    example: updateExamples.conversation,
  },
  UpdatedRecord: {
    schema: updatedRecord,
    descriptions: {
      ...conversations.messageDescriptions,
      ...conversations.conversationDescriptions,
      id: "Identifier, of the form `msg_<ULID>` or `conv_<ULID>`.",
      leadId: "The lead of the message or the conversation.",
    },
    example: { ...updatedExamples.message, ...waitingConversation },
  },
  Pagination: { schema: pagination, descriptions: paginationDescriptions, example: leadsPage.pagination },
  ...problemComponents,
  Fault: { schema: faultSchema, example: faultExample },
  GatewayError: { schema: gatewayError, example: { message: gatewayMessages[403] } },
  ...eventComponents,
};

const names = new Map<unknown, string>(
  Object.entries(components).map(([name, { schema }]) => [schema, name]),
);

names.set(messageBodies, "MessageBody");

/** A schema as it stands in the document, of what clients send or receive: a reference where it has a name. */
export function toReference(schema: unknown, isSent = true): object {
  const name = names.get(schema);
  return name === undefined ? spellOut(schema as object, isSent) : { $ref: `#/components/schemas/${name}` };
}

function spellOut(schema: object, isSent: boolean): object {
  const spelled: object = isSent ? withPortablePattern(schema) : withoutLimits(schema);
  const inner = ["items", "propertyNames", "additionalProperties"].filter((name) => name in spelled);
  return {
    ...spelled,
    ...Object.fromEntries(inner.map((name) => [name, toReference(Reflect.get(spelled, name), isSent)])),
  };
}

const requestBodies = new Set<unknown>([
  leadBody,
  ...Object.values(routes).map((route) => "body" in route && route.body),
  ...messageBodies.oneOf,
  conversations.newTemplate,
]);

/** Only the bodies of requests are closed: responses and events can get new fields. */
function describeComponent({ schema, descriptions = {}, example }: Component): object {
  const isSent = requestBodies.has(schema);
  const properties = Object.entries(schema.properties).map(([field, value]) => {
    const description = descriptions[field];
    const reference = toReference(value, isSent);
    const examples = "$ref" in reference ? undefined : [Reflect.get(example, field)];
    return [field, { ...reference, ...(description && { description }), ...(examples && { examples }) }];
  });
  return {
    type: "object",
    ...(schema.required.length > 0 && { required: schema.required }),
    ...(isSent && { additionalProperties: false }),
    properties: Object.fromEntries(properties),
  };
}

/** Every named schema, with its properties described. */
export const schemaComponents: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.entries(components).map(([name, component]) => [name, describeComponent(component)]),
  ),
  MessageBody: {
    description:
      "Without `update` a NewMessage, with `update=message` a MessageUpdate, and with `update=conversation` a ConversationUpdate.",
    oneOf: messageBodies.oneOf.map((body) => toReference(body)),
  },
};
