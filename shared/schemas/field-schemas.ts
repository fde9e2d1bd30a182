import type { JSONSchema } from "json-schema-to-ts";
import { bodyFault, type Fault, memberName } from "../errors.ts";
import { normalizeLabel } from "../normalize-label.ts";
import {
  address,
  channelAddress,
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

/** The id of a message, in a query for the messages before it. */
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
  maxLength: 160,
  pattern: visible,
} as const satisfies JSONSchema;

/** Where a lead is reached on a channel: a telephone number, a handle, an id of the channel. */
export const leadAddress = { ...externalId, pattern: address } as const satisfies JSONSchema;

/** The most addresses of a lead. */
export const maxAddresses = 10;

const ofChannel = { type: "array", maxItems: maxAddresses, items: leadAddress } as const satisfies JSONSchema;

/** The addresses of a lead, by channel. Messages go to the first address of their channel. */
export const addresses = {
  type: "object",
  maxProperties: maxAddresses,
  propertyNames: { minLength: 1, maxLength: 64, pattern: oneLine },
  additionalProperties: ofChannel,
} as const satisfies JSONSchema;

/** The addresses of a lead in an update: null removes all addresses of a channel. */
export const addressChanges = {
  ...addresses,
  additionalProperties: { ...ofChannel, type: ["array", "null"] },
} as const satisfies JSONSchema;

/** A channel and an address in a filter. */
export const addressFilter = {
  type: "string",
  maxLength: 64 + 2 + leadAddress.maxLength,
  pattern: channelAddress,
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

/** The caller's own texts, by the caller's own names. The service does not interpret them. */
export const metadata = {
  type: "object",
  maxProperties: 10,
  propertyNames: { minLength: 1, maxLength: 40, pattern: oneLine },
  additionalProperties: { type: "string", maxLength: 1024, pattern: lines },
} as const satisfies JSONSchema;

/** The most bytes of a field as JSON, in UTF-8. In most scripts, a template has room for WhatsApp's 1,024 characters. */
export const maxBytes = { metadata: 1024, template: 3072 } as const;

/** The fields of a body or a record that have more than `maxBytes`, which no schema can check. */
export const largeFields = (body: unknown) =>
  (["metadata", "template"] as const).filter((name) => {
    const value: unknown = Object(body)[name];
    return typeof value === "object" && Buffer.byteLength(JSON.stringify(value)) > maxBytes[name];
  });

/** Whether metadata has too many names or bytes. */
export const hasTooMuch = (entries: Readonly<Record<string, string>> = {}) =>
  Object.keys(entries).length > metadata.maxProperties || largeFields({ metadata: entries }).length > 0;

/** The faults of a body whose fields have too many bytes. The schema finds too many names. */
export const sizeFaults = (body: unknown): Fault[] =>
  largeFields(body).map((name) =>
    bodyFault(name, "too_large", `must have at most ${maxBytes[name]} bytes as JSON`),
  );

/** A channel of addresses, as it is stored. In a filter, a colon follows it. JavaScript reserves `__proto__`. */
const channelOfAddresses = /^(?!__proto__$)[^:,]{1,64}$/u;

/** The faults in the addresses of a body that no schema can find. */
export function addressFaults(body: unknown): Fault[] {
  const value: unknown = Object(body).addresses;
  if (typeof value !== "object" || value === null) return [];
  const names = Object.keys(value);
  const channels = names.map(normalizeLabel);
  const faults = names.flatMap((name, i) => {
    const field = memberName("addresses", name);
    const channel = channels[i] ?? "";
    return [
      ...(channels.indexOf(channel) < i
        ? [bodyFault(field, "duplicate_key", "is another spelling of a channel that is already given")]
        : []),
      ...(channelOfAddresses.test(channel) ? [] : [bodyFault(field, "invalid_characters", wrongChannel)]),
    ];
  });
  const count = Object.values(value).flat().filter(Boolean).length;
  return count > maxAddresses ? [...faults, bodyFault("addresses", "too_many", tooManyAddresses)] : faults;
}

const wrongChannel =
  "must be the name of a channel, without colons and commas, of at most 64 characters in its stored form";

/** The fault of an update that names no lead. */
export function unnamedFaults(body: unknown): Fault[] {
  const { id, externalId, addresses } = Object(body);
  const lists = Object.values(Object(addresses));
  if (id !== undefined || externalId !== undefined || lists.flat().some((address) => address !== null))
    return [];
  return [bodyFault("externalId", "required", "is required, unless id or addresses name the lead")];
}

export const tooManyAddresses = `must have at most ${maxAddresses} addresses of all channels`;

/** The beginning of the error of a message that may have been sent, or may still be sent: any other state replaces it. */
export const givenUp = "Given up: ";

/** The fault of a report that has an error without a failure, or the error of a message that the service has given up. */
export function deliveryFaults(body: unknown): Fault[] {
  const { delivery, deliveryError } = Object(body);
  if (deliveryError === undefined) return [];
  const isReserved = typeof deliveryError === "string" && deliveryError.startsWith(givenUp);
  if (delivery === "failed" && !isReserved) return [];
  const message = isReserved
    ? `must not begin with "${givenUp}", which the service keeps for its own deliveries`
    : "can be sent only if delivery is failed";
  return [bodyFault("deliveryError", "not_allowed", message)];
}

export const timestamp = { type: "string", format: "date-time" } as const satisfies JSONSchema;

export const email = { type: "string", maxLength: 254, format: "email" } as const satisfies JSONSchema;

export const name = {
  type: "string",
  maxLength: 200,
  pattern: oneLine,
  format: "notBlank",
} as const satisfies JSONSchema;

export const messageText = { ...name, maxLength: 4096, pattern: lines } as const satisfies JSONSchema;
