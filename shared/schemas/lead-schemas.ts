import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import {
  email,
  externalId,
  type IdsDescription,
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

/** The statuses of a lead. */
export const leadStatuses = ["new", "qualified", "booked"] as const;

const status = { type: "string", enum: leadStatuses } as const satisfies JSONSchema;
const score = { type: "integer", minimum: 0, maximum: 100 } as const satisfies JSONSchema;
const tags = { type: "array", maxItems: 50, items: tag } as const satisfies JSONSchema;

/** The query of `GET /api/v1/leads`, as strings, the way it arrives; ids are split. */
export const leadsQuery = {
  type: "object",
  properties: {
    page,
    limit,
    id: /* @__PURE__ */ idsFilter(leadIdFilter),
    externalId: /* @__PURE__ */ idsFilter(externalId),
    email,
    status,
    source: label,
    createdAfter: timestamp,
    createdBefore: timestamp,
    sort: { type: "string", enum: creationOrders },
  },
  additionalProperties: false,
} as const satisfies JSONSchema;

export const leadsQueryDescriptions: Descriptions<typeof leadsQuery, keyof typeof pagingDescriptions> = {
  id: "Only the leads with these ids, at most 100, separated by commas." satisfies IdsDescription,
  externalId:
    "Only the leads with these external ids, at most 100, separated by commas." satisfies IdsDescription,
  email: "Only leads with this email address, in any letter case.",
  status: "Only leads with this status.",
  source: "Only leads from this origin channel, for example instagram, whatsapp; in any letter case.",
  createdAfter: "Only leads created at this time or later.",
  createdBefore: "Only leads created before this time.",
  sort: "The order: `-createdAt`, the newest first, is the default. With `createdAt`, the oldest first, new leads come at the end: read everything in this order, as the guide says.",
};

/** The query of `POST /api/v1/leads`. */
export const newLeadQuery = {
  type: "object",
  properties: { ifExists: { type: "string", enum: ["update"] } },
  additionalProperties: false,
} as const satisfies JSONSchema;

export const newLeadQueryDescriptions: Descriptions<typeof newLeadQuery> = {
  ifExists: "With `update`, a lead that has the `externalId` is changed: only the fields that are sent.",
};

/** The body of `POST /api/v1/leads`. */
export const newLead = {
  type: "object",
  properties: { name, email, source: label, tags, externalId, metadata },
  required: ["name"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The same with `ifExists=update`: what is null is taken away. Built by a pure call: see `pageSchema`. */
export const leadUpdate = /* @__PURE__ */ (() =>
  ({
    type: "object",
    properties: {
      externalId,
      name,
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
    required: ["externalId"],
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
    metadata,
    createdAt: timestamp,
  },
  required: ["id", "name", "score", "status", "tags", "createdAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The descriptions of a lead. */
export const leadDescriptions: Descriptions<typeof lead> = {
  id: "Identifier, of the form `lead_<ULID>`.",
  externalId: "Your own id of the lead: no other lead of the account has it. It never changes.",
  name: "Name of the lead, not blank and on one line.",
  email: "Email address.",
  score: "Score of the lead.",
  status: "Status of the lead.",
  source: "Origin channel, for example instagram, whatsapp, website; stored in lower case.",
  tags: "Free-form labels.",
  metadata: "Your own data: at most 10 names and 1,024 bytes as JSON.",
  createdAt: "Creation time, in UTC.",
};

/** The descriptions of what differs in a new lead, and in its update. */
export const newLeadDescriptions: Partial<Descriptions<typeof leadUpdate>> = {
  externalId:
    "Your own id of the lead, without spaces and commas: no other lead of the account can have it, and it never changes. Required with `ifExists`.",
  name: "Name of the lead, not blank and on one line. Required, unless `ifExists=update` finds the lead.",
  email: "Email address. With `ifExists=update`, null takes it away.",
  source:
    "Origin channel, for example instagram, whatsapp, website; stored in lower case. With `ifExists=update`, null takes it away.",
  metadata:
    "Your own data: at most 10 names and 1,024 bytes as JSON. With `ifExists=update`, other entries stay as they are, and null takes one away.",
  status: "Status of the lead; only with `ifExists=update`.",
  score: "Score of the lead; only with `ifExists=update`.",
};

/** The response of `GET /api/v1/leads`. */
export const leadsPage = /* @__PURE__ */ pageSchema(lead);

export type LeadsQuery = FromSchema<typeof leadsQuery>;
export type NewLead = FromSchema<typeof newLead>;
export type LeadUpdate = FromSchema<typeof leadUpdate>;
export type Lead = FromSchema<typeof lead>;
