import { isDeepStrictEqual } from "node:util";
import { indexes, leadKey } from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import { buildUpdate } from "../dynamodb/updates.ts";
import { normalizeLabel } from "../normalize-label.ts";
import { type Lead, type LeadUpdate, lead as leadSchema } from "../schemas/lead-schemas.ts";
import { toRecord } from "../schemas/record.ts";
import { leadItem } from "./leads.ts";
import { markChange } from "./marked-change.ts";

/** A lead with the fields that are sent. What is null is taken away; tags are replaced, and metadata is merged. */
export function withChanges(lead: Partial<Lead>, { metadata, ...fields }: Partial<LeadUpdate>): Lead {
  const entries = Object.entries({ ...lead.metadata, ...metadata }).filter(([, text]) => text !== null);
  const sent = Object.entries(fields).map(([name, value]) => [name, value ?? undefined]);
  return toRecord(leadSchema, {
    ...lead,
    ...Object.fromEntries(sent),
    ...(fields.source && { source: normalizeLabel(fields.source) }),
    metadata: entries.length > 0 || lead.metadata ? Object.fromEntries(entries) : undefined,
  });
}

/**
 * The parameters of an update that makes a stored lead another one, on the condition that it is as it was read; undefined
 * if nothing differs.
 */
export function buildLeadUpdate(account: string, read: Item, lead: Lead) {
  const known = Object.keys(leadSchema.properties);
  const { details, ...attributes } = leadItem(account, lead);
  // Another release may have stored fields that this one does not know.
  const others = Object.entries(Object(read.details)).filter(([name]) => !known.includes(name));
  const wanted: Item = { ...attributes, details: { ...Object.fromEntries(others), ...details } };
  const changes = ["source", "status", "details", ...Object.values(indexes)]
    .filter((name) => !isDeepStrictEqual(read[name], wanted[name]))
    .map((name) => [name, wanted[name]]);
  if (changes.length === 0) return undefined;
  // Index keys contain the source, and the event tells what changed. The id of the last change tells a change that was taken
  // back: a late second attempt of the SDK would repeat this one.
  const { source, status, changeId } = read;
  const unchanged = { source, status, changeId, details: read.details };
  return buildUpdate(
    leadKey(account, lead.id),
    markChange(read, Object.fromEntries(changes), known),
    unchanged,
  );
}
