import type { JSONSchema } from "json-schema-to-ts";
import { faultCodes, faultPlaces, problems } from "../../shared/errors.ts";
import { maxFaults } from "../../shared/http/faults.ts";
import * as conversations from "../../shared/schemas/conversation-schemas.ts";
import * as leads from "../../shared/schemas/lead-schemas.ts";
import { pageDescriptions, pagination, paginationDescriptions } from "../../shared/schemas/page-schemas.ts";

/** One fault of a request. */
const fault = {
  type: "object",
  properties: {
    in: { type: "string", enum: faultPlaces, description: "The part of the request that has the fault." },
    field: { type: "string", description: "The name; `tags[3]` for an item, empty for the whole body." },
    code: { type: "string", enum: faultCodes, description: "The kind of fault, for programs." },
    message: { type: "string", description: "The fault in words that follow the field's name." },
  },
  required: ["in", "field", "code", "message"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** An error of a function. */
export const problem = {
  type: "object",
  properties: {
    type: { type: "string", format: "uri", description: "`urn:problem-type:` and the code." },
    title: { type: "string", description: "The kind of error, in words." },
    status: { type: "integer", description: "The status of the response." },
    detail: { type: "string", description: "A sentence that says what happened." },
    code: { type: "string", enum: Object.keys(problems), description: "The kind of error, for programs." },
    requestId: { type: "string", description: "The id of the request in the service's log." },
    errors: {
      type: "array",
      minItems: 1,
      maxItems: maxFaults,
      items: fault,
      description: `Every fault of the request, up to ${maxFaults}.`,
    },
  },
  required: ["type", "title", "status", "detail", "code", "requestId"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** An error of API Gateway, which may add other properties. */
export const gatewayError = {
  type: "object",
  properties: { message: { type: "string", description: "What happened, in a few words." } },
  required: ["message"],
} as const satisfies JSONSchema;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
}

/** The named schemas of the document, with the descriptions of those that have none in them. */
const components: Readonly<Record<string, readonly [ObjectSchema, Readonly<Record<string, string>>?]>> = {
  Lead: [leads.lead, leads.leadDescriptions],
  NewLead: [leads.newLead, leads.leadDescriptions],
  LeadsPage: [leads.leadsPage, pageDescriptions],
  Conversation: [conversations.conversation, conversations.conversationDescriptions],
  ConversationsPage: [conversations.conversationsPage, pageDescriptions],
  Message: [conversations.message, conversations.messageDescriptions],
  NewMessage: [conversations.newMessage, conversations.newMessageDescriptions],
  Pagination: [pagination, paginationDescriptions],
  Problem: [problem],
  Fault: [fault],
  GatewayError: [gatewayError],
};

const names = new Map<unknown, string>(Object.entries(components).map(([name, [schema]]) => [schema, name]));

/** A schema as it stands in the document: a reference where it has a name. */
export function toReference(schema: unknown): unknown {
  const name = names.get(schema);
  return name === undefined ? spellOut(schema) : { $ref: `#/components/schemas/${name}` };
}

function spellOut(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toReference);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, toReference(value)]));
}

/** Every named schema, with its properties described. */
export const schemaComponents = Object.fromEntries(
  Object.entries(components).map(([name, [{ properties, ...schema }, descriptions = {}]]) => {
    const fields = Object.entries(properties).map(([field, value]) => {
      const description = descriptions[field];
      return [field, { ...(toReference(value) as object), ...(description && { description }) }];
    });
    return [name, { ...(spellOut(schema) as object), properties: Object.fromEntries(fields) }];
  }),
);
