import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import type { FaultCode } from "./errors.ts";

/** A regular expression that a string must match, with the code and the words of the fault when it does not. */
interface TextRule {
  readonly pattern: string;
  readonly code: FaultCode;
  readonly message: string;
}

/** Every pattern that the schemas below use; the validation errors take their words from here. */
export const textRules = {
  notBlank: { pattern: "\\S", code: "blank", message: "must not be blank" },
  oneLine: {
    pattern: "^[^\\p{Cc}\\p{Cs}]*$",
    code: "invalid_characters",
    message: "must not contain control characters or unpaired surrogates",
  },
  lines: {
    pattern: "^(?:[^\\p{Cc}\\p{Cs}]|[\\t\\n\\r])*$",
    code: "invalid_characters",
    message: "must not contain control characters (line breaks and tabs are allowed) or unpaired surrogates",
  },
  page: {
    pattern: "^[1-9]\\d{0,8}$",
    code: "out_of_range",
    message: "must be a whole number from 1 to 999999999, in plain digits",
  },
  limit: {
    pattern: "^(?:[1-9]\\d?|100)$",
    code: "out_of_range",
    message: "must be a whole number from 1 to 100, in plain digits",
  },
} as const satisfies Record<string, TextRule>;

const { notBlank, oneLine, lines } = textRules;

/** What a lead's status can be. */
export const leadStatuses = ["new", "qualified", "booked"] as const;

const id = { type: "string", minLength: 1, maxLength: 64 } as const satisfies JSONSchema;
const label = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  pattern: oneLine.pattern,
} as const satisfies JSONSchema;
const leadStatus = { type: "string", enum: leadStatuses } as const satisfies JSONSchema;
const timestamp = { type: "string", format: "date-time" } as const satisfies JSONSchema;

const name = {
  type: "string",
  maxLength: 200,
  allOf: [{ pattern: notBlank.pattern }, { pattern: oneLine.pattern }],
} as const satisfies JSONSchema;
const email = { type: "string", maxLength: 254, format: "email" } as const satisfies JSONSchema;
const tags = { type: "array", maxItems: 50, items: label } as const satisfies JSONSchema;
const messageText = {
  type: "string",
  maxLength: 4096,
  allOf: [{ pattern: notBlank.pattern }, { pattern: lines.pattern }],
} as const satisfies JSONSchema;

const paging = {
  page: { type: "string", pattern: textRules.page.pattern },
  limit: { type: "string", pattern: textRules.limit.pattern },
} as const satisfies Record<string, JSONSchema>;

/** The query of `GET /api/v1/leads`, as strings, the way it arrives. */
export const leadsQuery = {
  type: "object",
  properties: { ...paging, status: leadStatus, source: label },
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The query of `GET /api/v1/conversations`, as strings, the way it arrives. */
export const conversationsQuery = {
  type: "object",
  properties: { ...paging, leadId: id, channel: label, status: label },
  additionalProperties: false,
} as const satisfies JSONSchema;

/** A query without parameters. */
export const noQuery = {
  type: "object",
  properties: {},
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The body of `POST /api/v1/leads`. */
export const newLead = {
  type: "object",
  properties: { name, email, source: label, tags },
  required: ["name"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The body of `POST /api/v1/conversations`. */
export const newMessage = {
  type: "object",
  properties: { leadId: id, channel: label, message: messageText },
  required: ["leadId", "channel", "message"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** A lead in an answer. */
export const lead = {
  type: "object",
  properties: {
    id,
    name,
    email,
    score: { type: "integer", minimum: 0, maximum: 100 },
    status: leadStatus,
    source: label,
    tags,
    createdAt: timestamp,
  },
  required: ["id", "name", "score", "status", "tags", "createdAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** A conversation in an answer. */
export const conversation = {
  type: "object",
  properties: {
    id,
    leadId: id,
    channel: label,
    status: label,
    lastMessageAt: timestamp,
    messageCount: { type: "integer", minimum: 1 },
  },
  required: ["id", "leadId", "channel", "status", "lastMessageAt", "messageCount"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** A sent message in an answer: nothing in it changes later. */
export const message = {
  type: "object",
  properties: {
    id,
    conversationId: id,
    leadId: id,
    channel: label,
    message: messageText,
    createdAt: timestamp,
  },
  required: ["id", "conversationId", "leadId", "channel", "message", "createdAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** Where a page is in its list. */
export const pagination = {
  type: "object",
  properties: {
    page: { type: "integer", minimum: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100 },
    total: { type: "integer", minimum: 0 },
  },
  required: ["page", "limit", "total"],
  additionalProperties: false,
} as const satisfies JSONSchema;

const pageSchema = <Item extends object>(items: Item) =>
  ({
    type: "object",
    properties: { data: { type: "array", maxItems: 100, items }, pagination },
    required: ["data", "pagination"],
    additionalProperties: false,
  }) as const;

/** The answer of `GET /api/v1/leads`. */
export const leadsPage = pageSchema(lead);

/** The answer of `GET /api/v1/conversations`. */
export const conversationsPage = pageSchema(conversation);

export type LeadsQuery = FromSchema<typeof leadsQuery>;
export type ConversationsQuery = FromSchema<typeof conversationsQuery>;
export type NewLead = FromSchema<typeof newLead>;
export type NewMessage = FromSchema<typeof newMessage>;
export type Lead = FromSchema<typeof lead>;
export type Conversation = FromSchema<typeof conversation>;
export type Message = FromSchema<typeof message>;

/**
 * The record that an item of the table holds: the schema's properties in the schema's order, as every answer shows
 * them. Keys and other attributes of the item are left out.
 */
export function toRecord<T>(
  schema: { readonly properties: object },
  item: Readonly<Record<string, unknown>>,
): T {
  const names = Object.keys(schema.properties).filter((name) => item[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, item[name]])) as T;
}
