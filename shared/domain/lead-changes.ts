import { isDeepStrictEqual } from "node:util";
import { indexKeys, leadKey } from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import { buildUpdate } from "../dynamodb/updates.ts";
import { normalizeLabel } from "../normalize-label.ts";
import { type Lead, type LeadUpdate, lead as leadSchema } from "../schemas/lead-schemas.ts";
import { toRecord } from "../schemas/record.ts";
import { withAddresses } from "./lead-names.ts";
import { leadItem } from "./leads.ts";
import { markChange } from "./marked-change.ts";

/**
 * Returns a lead with the fields that were sent. A field that is null is removed; tags are replaced, addresses are added, and
 * metadata is merged.
 */
export function withChanges(lead: Partial<Lead>, { metadata, addresses, ...fields }: LeadUpdate) {
  const entries = Object.entries({ ...lead.metadata, ...metadata }).filter(([, text]) => text !== null);
  const sent = Object.entries(fields).map(([name, value]) => [name, value ?? undefined]);
  return toRecord(leadSchema, {
    ...lead,
    ...Object.fromEntries(sent),
    ...(fields.source && { source: normalizeLabel(fields.source) }),
    addresses: withAddresses(lead.addresses, addresses),
    // A new lead keeps metadata without entries, as it was sent.
    metadata: entries.length > 0 ? Object.fromEntries(entries) : isEmpty(lead.metadata) ? {} : undefined,
  });
}

const isEmpty = (entries: Lead["metadata"]) => entries !== undefined && Object.keys(entries).length === 0;

/**
 * The lead after a change, and the parameters of the update that stores it, on the condition that the stored lead is as it
 * was read. If nothing differs, there is no update.
 */
export function buildLeadUpdate(account: string, read: Item, lead: Lead) {
  const known = Object.keys(leadSchema.properties);
  const { details, ...attributes } = leadItem(account, lead);
  // Another release may have stored fields that this one does not know.
  const others = Object.entries(Object(read.details)).filter(([name]) => !known.includes(name));
  const wanted: Item = { ...attributes, details: { ...Object.fromEntries(others), ...details } };
  const changes = ["source", "status", "addresses", "details", ...indexKeys]
    .filter((name) => !isDeepStrictEqual(read[name], wanted[name]))
    .map((name) => [name, wanted[name]]);
  if (changes.length === 0) return { lead };
  const marked = markChange(read, Object.fromEntries(changes), known);
  // Index keys contain the source, and the event states what changed. The id of the last change reveals a change that was
  // reverted: without it, a late second attempt of the SDK would repeat this update.
  const { source, status, changeId } = read;
  const unchanged = { source, status, changeId, details: read.details };
  return {
    lead: marked.activeAt ? { ...lead, updatedAt: String(marked.activeAt) } : lead,
    update: buildUpdate(leadKey(account, lead.id), marked, unchanged),
  };
}
