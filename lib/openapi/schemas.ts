import type { JSONSchema } from "json-schema-to-ts";
import { faultCodes, faultPlaces, problems } from "../../shared/errors.ts";
import * as schemas from "../../shared/schemas.ts";

/** One fault of a request. */
const fault = {
  type: "object",
  properties: {
    in: { type: "string", enum: faultPlaces },
    field: { type: "string" },
    code: { type: "string", enum: faultCodes },
    message: { type: "string" },
  },
  required: ["in", "field", "code", "message"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** An error of a function. */
const problem = {
  type: "object",
  properties: {
    type: { type: "string", format: "uri" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", enum: Object.keys(problems) },
    requestId: { type: "string" },
    errors: { type: "array", minItems: 1, maxItems: 100, items: fault },
  },
  required: ["type", "title", "status", "detail", "code", "requestId"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** An error of API Gateway, which decides what else may be in it. */
const gatewayError = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
} as const satisfies JSONSchema;

const { lead, newLead, conversation, message, newMessage, pagination } = schemas;

const named = {
  Lead: lead,
  NewLead: newLead,
  LeadsPage: schemas.leadsPage,
  Conversation: conversation,
  ConversationsPage: schemas.conversationsPage,
  Message: message,
  NewMessage: newMessage,
  Pagination: pagination,
  Problem: problem,
  Fault: fault,
  GatewayError: gatewayError,
} as const;

type Named = typeof named;

const leadWords = {
  name: "Name of the lead, not blank and on one line.",
  email: "Email address.",
  source: "Origin channel, for example instagram, whatsapp, website.",
  tags: "Free-form labels.",
};

/** What each field of each schema means. */
const words: { [Name in keyof Named]: Record<keyof Named[Name]["properties"], string> } = {
  Lead: {
    ...leadWords,
    id: "Opaque, of the form `lead_<id>`.",
    score: "Score of the lead.",
    status: "Where the lead stands.",
    createdAt: "When the lead was created, in UTC.",
  },
  NewLead: leadWords,
  LeadsPage: { data: "The page's leads, newest first.", pagination: "Where the page is in its list." },
  Conversation: {
    id: "Opaque, of the form `conv_<id>`.",
    leadId: "The lead that the conversation is with.",
    channel: "Channel, for example instagram, whatsapp.",
    status: "`active` until the conversation has ended.",
    lastMessageAt: "When the last message was sent, in UTC.",
    messageCount: "How many messages the conversation has.",
  },
  ConversationsPage: {
    data: "The page's conversations, newest first.",
    pagination: "Where the page is in its list.",
  },
  Message: {
    id: "Opaque, of the form `msg_<id>`.",
    conversationId: "The conversation that the message joined or started.",
    leadId: "The lead that it was sent to.",
    channel: "The channel that it was sent on.",
    message: "The text, as it was sent.",
    createdAt: "When the message was sent, in UTC.",
  },
  NewMessage: {
    leadId: "The lead to send to.",
    channel: "Channel, for example instagram, whatsapp.",
    message: "The text, not blank; it may hold line breaks and tabs.",
  },
  Pagination: {
    page: "The page's number, from 1.",
    limit: "How many items a page holds.",
    total: "How many items match the request, exactly.",
  },
  Problem: {
    type: "`urn:problem-type:` and the code.",
    title: "What kind of error it is, in words.",
    status: "The status of the answer.",
    detail: "What happened, in a sentence.",
    code: "What kind of error it is, for programs.",
    requestId: "The id under which the service's log has the request.",
    errors: "Every fault of the request, the first 100 of them.",
  },
  Fault: {
    in: "Where the fault is.",
    field: "The name; `tags[3]` for an item, empty for the whole body.",
    code: "What the fault is, for programs.",
    message: "What the fault is, in words that follow the field's name.",
  },
  GatewayError: { message: "What happened, in a few words." },
};

const names = new Map<unknown, string>(Object.entries(named).map(([name, schema]) => [schema, name]));

/** The schema as the document has it: what has a name is referred to. */
export function referring(schema: unknown): unknown {
  const name = names.get(schema);
  return name === undefined ? spelledOut(schema) : { $ref: `#/components/schemas/${name}` };
}

function spelledOut(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(referring);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, referring(value)]));
}

/** Every schema with a name, with its fields described. */
export const schemaComponents = Object.fromEntries(
  Object.entries(named).map(([name, { properties, ...schema }]) => {
    const meanings: Record<string, string> = words[name as keyof Named];
    const fields = Object.entries(properties).map(([field, value]) => [
      field,
      { ...(referring(value) as object), description: meanings[field] },
    ]);
    return [name, { ...(spelledOut(schema) as object), properties: Object.fromEntries(fields) }];
  }),
);

/** Schemas of errors, for the answers. */
export { gatewayError as gatewayErrorSchema, problem as problemSchema };
