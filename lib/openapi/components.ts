import { routes } from "../../shared/routes.ts";
import * as conversations from "../../shared/schemas/conversation-schemas.ts";
import * as leads from "../../shared/schemas/lead-schemas.ts";
import { pageDescriptions, pagination, paginationDescriptions } from "../../shared/schemas/page-schemas.ts";
import { gatewayMessages } from "../gateway-messages.ts";
import { leadExample, requestExamples, responseExamples } from "./examples.ts";
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

/** The named schemas of the document. */
const components: Readonly<Record<string, Component>> = {
  Lead: {
    schema: leads.lead,
    descriptions: leads.leadDescriptions,
    example: responseExamples["create-lead"],
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
    example: conversationsPage.data[0],
  },
  OpenedConversation: {
    schema: conversations.openedConversation,
    descriptions: conversations.openedConversationDescriptions,
    example: { ...conversationsPage.data[0], messages: [responseExamples["send-message"]] },
  },
  ConversationsPage: {
    schema: conversations.conversationsPage,
    descriptions: pageDescriptions,
    example: conversationsPage,
  },
  Message: {
    schema: conversations.message,
    descriptions: conversations.messageDescriptions,
    example: responseExamples["send-message"],
  },
  NewMessage: {
    schema: conversations.newMessage,
    descriptions: conversations.newMessageDescriptions,
    example: requestExamples["send-message"],
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
export const schemaComponents = Object.fromEntries(
  Object.entries(components).map(([name, component]) => [name, describeComponent(component)]),
);
