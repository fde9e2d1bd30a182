import type { JSONSchema } from "json-schema-to-ts";
import type { Fault } from "../errors.ts";
import {
  lines,
  messageId,
  notConversationId,
  notLeadId,
  notMessageId,
  oneLine,
  visible,
} from "./text-rules.ts";

export const id = { type: "string", minLength: 1, maxLength: 64 } as const satisfies JSONSchema;

/** How many ids a list can be filtered by: as many as a page has rows. */
const maxIds = 100;

/** A description of such a filter, as a plain literal: esbuild keeps a template with a number of another module. */
export type IdsDescription = `${string}at most ${typeof maxIds}, ${string}`;

/** The ids of records in a filter, which a query separates by commas. Mark its calls as pure: see `pageSchema`. */
export const idsFilter = <Id extends object>(items: Id) =>
  ({ type: "array", maxItems: maxIds, items }) as const;

/** The id of a lead in a filter. */
export const leadIdFilter = {
  ...id,
  allOf: [{ pattern: notConversationId }, { pattern: notMessageId }],
} as const satisfies JSONSchema;

/** The id of a conversation in a filter. */
export const conversationIdFilter = {
  ...id,
  allOf: [{ pattern: notLeadId }, { pattern: notMessageId }],
} as const satisfies JSONSchema;

/** The id of a message before which others are asked for. */
export const messageIdFilter = { type: "string", pattern: messageId } as const satisfies JSONSchema;

export const tag = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  pattern: oneLine,
} as const satisfies JSONSchema;

/** A source, a channel or a conversation's status. */
export const label = { ...tag, format: "storable" } as const satisfies JSONSchema;

/** The caller's own id of a lead. */
export const externalId = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  pattern: visible,
} as const satisfies JSONSchema;

/** The id of a message at the provider of its channel. */
export const providerId = { ...externalId, maxLength: 512 } as const satisfies JSONSchema;

/** Why a provider did not deliver a message. */
export const deliveryError = {
  type: "string",
  minLength: 1,
  maxLength: 500,
  pattern: lines,
  format: "notBlank",
} as const satisfies JSONSchema;

/** Texts of the caller by names of the caller. The service does not read them. */
export const metadata = {
  type: "object",
  maxProperties: 10,
  propertyNames: { minLength: 1, maxLength: 40, pattern: oneLine },
  additionalProperties: { type: "string", maxLength: 200, pattern: lines },
} as const satisfies JSONSchema;

/** The most bytes of metadata as JSON, in UTF-8. */
export const maxMetadataBytes = 1024;

/** Whether metadata has more, which no schema can tell. */
export const isLargeMetadata = (value: object) => Buffer.byteLength(JSON.stringify(value)) > maxMetadataBytes;

/** The fault of a body whose metadata has too many bytes. The schema finds too many names. */
export function metadataFaults(body: unknown): Fault[] {
  const value: unknown = (body as { metadata?: unknown } | null)?.metadata;
  if (typeof value !== "object" || value === null || !isLargeMetadata(value)) return [];
  const message = `must have at most ${maxMetadataBytes} bytes as JSON`;
  return [{ in: "body", field: "metadata", code: "too_large", message }];
}

/** The fault of a report whose error belongs to no failure. */
export function deliveryFaults(body: unknown): Fault[] {
  const { delivery, deliveryError } = Object(body);
  if (deliveryError === undefined || delivery === "failed") return [];
  const message = "can be sent only with failed as delivery";
  return [{ in: "body", field: "deliveryError", code: "not_allowed", message }];
}

export const timestamp = { type: "string", format: "date-time" } as const satisfies JSONSchema;

export const email = { type: "string", maxLength: 254, format: "email" } as const satisfies JSONSchema;

export const name = {
  type: "string",
  maxLength: 200,
  pattern: oneLine,
  format: "notBlank",
} as const satisfies JSONSchema;

export const messageText = {
  type: "string",
  maxLength: 4096,
  pattern: lines,
  format: "notBlank",
} as const satisfies JSONSchema;
