import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import {
  addressChanges,
  addresses,
  addressFilter,
  email,
  externalId,
  id,
  idsFilter,
  label,
  leadIdFilter,
  metadata,
  name,
  tag,
  timestamp,
} from "./field-schemas.ts";
import { creationOrders, limit, page, pageSchema, type pagingDescriptions } from "./page-schemas.ts";
import type { Descriptions } from "./record.ts";

export const leadStatuses = ["new", "qualified", "booked"] as const;

const status = { type: "string", enum: leadStatuses } as const satisfies JSONSchema;
const score = { type: "integer", minimum: 0, maximum: 100 } as const satisfies JSONSchema;
const tags = { type: "array", maxItems: 50, items: tag } as const satisfies JSONSchema;

/** The query of `GET /api/v1/leads` as it arrives: values are strings, and ids are split. */
export const leadsQuery = {
  type: "object",
  properties: {
    page,
    limit,
    id: /* @__PURE__ */ idsFilter(leadIdFilter),
    externalId: /* @__PURE__ */ idsFilter(externalId),
    address: /* @__PURE__ */ idsFilter(addressFilter),
    email,
    status,
    source: label,
    createdAfter: timestamp,
    createdBefore: timestamp,
    updatedAfter: timestamp,
    updatedBefore: timestamp,
    sort: { type: "string", enum: [...creationOrders, "-updatedAt", "updatedAt"] },
  },
  additionalProperties: false,
} as const satisfies JSONSchema;

export const leadsQueryDescriptions: Descriptions<typeof leadsQuery, keyof typeof pagingDescriptions> = {
  id: "Only the leads with these ids, at most 100, separated by commas.",
  externalId: "Only the leads with these external ids, at most 100, separated by commas.",
  address:
    "Only the leads with these addresses, at most 100, separated by commas: each a channel, a colon and an address, such as `whatsapp:%2B4917700000001`.",
  email: "Only leads with this email address, in any letter case.",
  status: "Only leads with this status.",
  source: "Only leads from this origin channel, for example instagram, whatsapp; in any letter case.",
  createdAfter: "Only leads created at this time or later.",
  createdBefore: "Only leads created before this time.",
  updatedAfter: "Only leads that were created or changed at this time or later.",
  updatedBefore: "Only leads that were last changed before this time.",
  sort: "The order: `-createdAt`, the newest first, is the default. With `createdAt`, the oldest first, new leads come at the end: read everything in this order, as the guide says. With `updatedAt` and `updatedAfter`, a list has the leads that changed since, the oldest change first: its `next` links continue from the time of the last row, so they miss none. A list by `updatedAt` or `-updatedAt` ends after 2,000 leads: the `next` link of its last page continues it in the same way.",
};

/** The query of `POST /api/v1/leads`. */
export const newLeadQuery = {
  type: "object",
  properties: { ifExists: { type: "string", enum: ["update"] } },
  additionalProperties: false,
} as const satisfies JSONSchema;

export const newLeadQueryDescriptions: Descriptions<typeof newLeadQuery> = {
  ifExists:
    "With `update`, the lead that the body names is changed, but only the fields that are sent. The body names it by its `id`, or else by its `externalId`, or else by one of its `addresses`.",
};

/** The body of `POST /api/v1/leads`. */
export const newLead = {
  type: "object",
  properties: { name, email, source: label, tags, externalId, addresses, metadata },
  required: ["name"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The body with `ifExists=update`: null removes the stored value. Built by a pure call: see `pageSchema`. */
export const leadUpdate = /* @__PURE__ */ (() =>
  ({
    type: "object",
    properties: {
      name,
      id: leadIdFilter,
      externalId,
      addresses: addressChanges,
      email: { ...email, type: ["string", "null"] },
      source: { ...label, type: ["string", "null"] },
      tags,
      metadata: {
        ...metadata,
        additionalProperties: { ...metadata.additionalProperties, type: ["string", "null"] },
      },
      status,
      score,
    },
    additionalProperties: false,
  }) as const satisfies JSONSchema)();

/** A lead in a response. */
export const lead = {
  type: "object",
  properties: {
    id,
    externalId,
    name,
    email,
    score,
    status,
    source: label,
    tags,
    addresses,
    metadata,
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  required: ["id", "name", "score", "status", "tags", "createdAt", "updatedAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

export const leadDescriptions: Descriptions<typeof lead> = {
  id: "Identifier, of the form `lead_<ULID>`.",
  externalId:
    "Your own id of the lead: no other lead of the account has it. Once the lead has one, it never changes.",
  name: "Name of the lead, not blank and on one line.",
  email: "Email address, in ASCII: an international domain in its `xn--` form.",
  score: "Score of the lead.",
  status: "Status of the lead.",
  source: "Origin channel, for example instagram, whatsapp, website; stored in lower case.",
  tags: "Free-form labels.",
  addresses:
    "The lead's addresses by channel: at most 10, which no other lead of the account has. A message goes to the first one of its channel.",
  metadata: "Your own data: at most 10 names and 1,024 bytes as JSON.",
  createdAt: "Creation time, in UTC.",
  updatedAt: "Time of the last change, in UTC; before the first change, when the lead was stored.",
};

/** The descriptions that differ for a new lead and its update. */
export const newLeadDescriptions: Partial<Descriptions<typeof leadUpdate>> = {
  id: "The lead to change; only with `ifExists=update`.",
  externalId:
    "Your own id of the lead, without spaces and commas: no other lead of the account can have it. Once the lead has one, it never changes.",
  addresses:
    "The lead's addresses by channel: telephone numbers, email addresses, ids that the channel gives (of Instagram, not the handle). At most 10, which no other lead of the account can have. Telephone numbers are compared by their digits (`00` counts as `+`; Brazil's ninth digit, Mexico's `1` and Argentina's `9` do not count), and texts with an @ in any letter case. With `ifExists=update`, they are added, and null removes those of a channel.",
  name: "Name of the lead, not blank and on one line. Required, unless `ifExists=update` finds the lead.",
  email: "Email address, in ASCII. With `ifExists=update`, null removes it.",
  tags: "Free-form labels. With `ifExists=update`, they replace the lead's.",
  source:
    "Origin channel, for example instagram, whatsapp, website; stored in lower case. With `ifExists=update`, null removes it.",
  metadata:
    "Your own data: at most 10 names and 1,024 bytes as JSON. With `ifExists=update`, other entries stay as they are, and null removes one.",
  status: "Status of the lead; only with `ifExists=update`.",
  score: "Score of the lead; only with `ifExists=update`.",
};

/** The response of `GET /api/v1/leads`. */
export const leadsPage = /* @__PURE__ */ pageSchema(lead);

export type LeadsQuery = FromSchema<typeof leadsQuery>;
export type NewLead = FromSchema<typeof newLead>;
export type LeadUpdate = FromSchema<typeof leadUpdate>;
export type Lead = FromSchema<typeof lead>;
