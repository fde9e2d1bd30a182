import { buildLeadUpdate, withChanges } from "../../../shared/domain/lead-changes.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { updateItem } from "../../../shared/dynamodb/updates.ts";
import type { Lead, LeadUpdate } from "../../../shared/schemas/lead-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { retryChange } from "../table/write-items.ts";

/**
 * Changes fields of a lead.
 *
 * @returns the changed lead; undefined when the account has no such lead
 * @throws InvalidItemError, StaleReadError, or the error of a conflict, when other writers won for ten seconds
 */
export function setLeadFields(
  account: string,
  id: string,
  fields: Omit<LeadUpdate, "externalId">,
): Promise<Lead | undefined> {
  return retryChange(async () => {
    const item = await readItem(leadKey(account, id));
    if (!item) return undefined;
    const lead = withChanges(readRecord(validateLead, item), fields);
    const update = buildLeadUpdate(account, item, lead);
    if (update) await updateItem(update);
    return lead;
  });
}
