import { buildLeadUpdate, withChanges } from "../../../shared/domain/lead-changes.ts";
import { isRetryable } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { updateItem } from "../../../shared/dynamodb/updates.ts";
import type { Lead, LeadUpdate } from "../../../shared/schemas/lead-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";

/**
 * Changes fields of a lead.
 *
 * @param deadline until when to retry, in milliseconds since the epoch
 * @returns the changed lead; undefined when the account has no such lead
 * @throws MalformedItemError, StaleReadError, or the error of a conflict, when other writers won until the deadline
 */
export function changeLead(
  account: string,
  id: string,
  fields: Omit<LeadUpdate, "externalId">,
  deadline: number,
): Promise<Lead | undefined> {
  return withRetry(
    async () => {
      const item = await readItem(leadKey(account, id));
      if (!item) return undefined;
      const lead = withChanges(readRecord(validateLead, item), fields);
      const update = buildLeadUpdate(account, item, lead);
      if (update) await updateItem(update);
      return lead;
    },
    { deadline, isRetryable },
  );
}
