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

/** A schema, a valid value with the examples of its properties, and descriptions of properties that the schema leaves out. */
type Component = readonly [
  schema: {
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  },
  example: object,
  descriptions?: Readonly<Record<string, string>>,
];

const {
  "list-leads": leadsPage,
  "list-conversations": conversationsPage,
  "send-message": sentMessage,
} = responseExamples;
const sendMessage = requestExamples["send-message"];
const openedConversation = { ...waitingConversation, messages: [sentMessage] };
const faultExample = {
  in: "body",
  field: "tags[3]",
  code: "too_short",
  message: "must have at least 1 character",
};

/**
 * The one body of a lead for every query, because generators make up a name for a choice of schemas. Descriptions state what
 * differs without `ifExists`.
 */
export const leadBody = { ...leads.leadUpdate, required: [] };

/**
 * What an update of a message or a conversation returns. It is one open object, because generated clients in Java and other
 * languages refuse a choice if a value matches both of its schemas.
 */
export const updatedRecord = {
  type: "object",
  properties: { ...conversations.message.properties, ...conversations.conversation.properties },
  required: ["id", "leadId", "channel", "createdAt"],
} as const;

const updatedDescriptions = {
  ...conversations.messageDescriptions,
  ...conversations.conversationDescriptions,
  id: "Identifier, of the form `msg_<ULID>` or `conv_<ULID>`.",
  leadId: "The lead of the message or the conversation.",
};

/** The bodies of a route that takes several. The choice has a name, because generators would make one up. */
export const messageBodies = {
  oneOf: [conversations.newMessage, conversations.messageUpdate, conversations.conversationUpdate],
};

const components: Readonly<Record<string, Component>> = {
  Lead: [leads.lead, updatedExamples.lead, leads.leadDescriptions],
  NewLead: [leadBody, leadExample, { ...leads.leadDescriptions, ...leads.newLeadDescriptions }],
  LeadsPage: [leads.leadsPage, leadsPage, pageDescriptions],
  Conversation: [conversations.conversation, waitingConversation, conversations.conversationDescriptions],
  LastMessage: [
    conversations.lastMessage,
    waitingConversation.lastMessage,
    conversations.lastMessageDescriptions,
  ],
  OpenedConversation: [
    conversations.openedConversation,
    openedConversation,
    conversations.openedConversationDescriptions,
  ],
  ConversationsPage: [conversations.conversationsPage, conversationsPage, pageDescriptions],
  Template: [conversations.template, sendMessage.template, conversations.templateDescriptions],
  NewTemplate: [conversations.newTemplate, sendMessage.template, conversations.templateDescriptions],
  Message: [conversations.message, updatedExamples.message, conversations.messageDescriptions],
  NewMessage: [conversations.newMessage, sendMessage, conversations.newMessageDescriptions],
  MessageUpdate: [
    conversations.messageUpdate,
    updateExamples.message,
    conversations.messageUpdateDescriptions,
  ],
  ConversationUpdate: [
    conversations.conversationUpdate,
    updateExamples.conversation,
    conversations.conversationUpdateDescriptions,
  ],
  UpdatedRecord: [updatedRecord, { ...updatedExamples.message, ...waitingConversation }, updatedDescriptions],
  Pagination: [pagination, leadsPage.pagination, paginationDescriptions],
  ...problemComponents,
  Fault: [faultSchema, faultExample],
  GatewayError: [gatewayError, { message: gatewayMessages[403] }],
  ...eventComponents,
};

const names = new Map<unknown, string>(Object.entries(components).map(([name, [schema]]) => [schema, name]));

names.set(messageBodies, "MessageBody");

/** A schema as it stands in the document: a reference if it has a name. @param isSent whether clients send the value */
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

/** Only the bodies of requests are closed: responses and events can get new fields. */
function describeComponent([name, [schema, example, descriptions = {}]]: [string, Component]) {
  const isSent = /^New|Update$/.test(name);
  const properties = Object.entries(schema.properties).map(([field, value]) => {
    const description = descriptions[field];
    const reference = toReference(value, isSent);
    const examples = "$ref" in reference ? undefined : [Reflect.get(example, field)];
    return [field, { ...reference, ...(description && { description }), ...(examples && { examples }) }];
  });
  const described = {
    type: "object",
    ...(schema.required.length > 0 && { required: schema.required }),
    ...(isSent && { additionalProperties: false }),
    properties: Object.fromEntries(properties),
  };
  return [name, described];
}

/** Every named schema, with its properties described. */
export const schemaComponents: Readonly<Record<string, object>> = {
  ...Object.fromEntries(Object.entries(components).map(describeComponent)),
  MessageBody: {
    description:
      "Without `update` a NewMessage, with `update=message` a MessageUpdate, and with `update=conversation` a ConversationUpdate.",
    oneOf: messageBodies.oneOf.map((body) => toReference(body)),
  },
};
