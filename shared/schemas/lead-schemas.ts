import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import {
  email,
  type IdsDescription,
  id,
  idsFilter,
  label,
  leadIdFilter,
  name,
  timestamp,
} from "./field-schemas.ts";
import { creationOrders, limit, page, pageSchema, type pagingDescriptions } from "./page-schemas.ts";
import type { Descriptions } from "./record.ts";

/** The statuses of a lead. */
export const leadStatuses = ["new", "qualified", "booked"] as const;

const status = { type: "string", enum: leadStatuses } as const satisfies JSONSchema;
const tags = { type: "array", maxItems: 50, items: label } as const satisfies JSONSchema;

/** The query of `GET /api/v1/leads`, as strings, the way it arrives; ids are split. */
export const leadsQuery = {
  type: "object",
  properties: {
    page,
    limit,
    id: /* @__PURE__ */ idsFilter(leadIdFilter),
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
  email: "Only leads with this email address, in any letter case.",
  status: "Only leads with this status.",
  source: "Only leads from this origin channel, for example instagram, whatsapp; in any letter case.",
  createdAfter: "Only leads created at this time or later.",
  createdBefore: "Only leads created before this time.",
  sort: "The order: `-createdAt`, the newest first, is the default. With `createdAt`, the oldest first, new leads come at the end, and move only pages of the last seconds: read everything in this order.",
};

/** The body of `POST /api/v1/leads`. */
export const newLead = {
  type: "object",
  properties: { name, email, source: label, tags },
  required: ["name"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** A lead in a response. */
export const lead = {
  type: "object",
  properties: {
    id,
    name,
    email,
    score: { type: "integer", minimum: 0, maximum: 100 },
    status,
    source: label,
    tags,
    createdAt: timestamp,
  },
  required: ["id", "name", "score", "status", "tags", "createdAt"],
  additionalProperties: false,
} as const satisfies JSONSchema;

/** The descriptions of a lead, and of a new lead. */
export const leadDescriptions: Descriptions<typeof lead> = {
  id: "Opaque identifier, of the form `lead_<id>`.",
  name: "Name of the lead, not blank and on one line.",
  email: "Email address.",
  score: "Score of the lead.",
  status: "Status of the lead.",
  source: "Origin channel, for example instagram, whatsapp, website; stored in lower case.",
  tags: "Free-form labels.",
  createdAt: "Creation time, in UTC.",
};

/** The response of `GET /api/v1/leads`. */
export const leadsPage = /* @__PURE__ */ pageSchema(lead);

export type LeadsQuery = FromSchema<typeof leadsQuery>;
export type NewLead = FromSchema<typeof newLead>;
export type Lead = FromSchema<typeof lead>;
