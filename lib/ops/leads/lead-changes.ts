import { leadItem } from "../../../shared/domain/leads.ts";
import { isRetryable } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { asChange, buildUpdate, updateItem } from "../table/write-items.ts";

/**
 * Changes fields of a lead.
 *
 * @param deadline until when to retry, in milliseconds since the epoch
 * @param dryRun whether to write nothing
 * @returns the changed lead; undefined when the account has no such lead
 * @throws MalformedItemError, StaleReadError, or the error of a conflict, when other writers won until the deadline
 */
export function changeLead(
  account: string,
  id: string,
  fields: Partial<Omit<Lead, "id" | "createdAt">>,
  deadline: number,
  dryRun = false,
): Promise<Lead | undefined> {
  const key = leadKey(account, id);
  return withRetry(
    async () => {
      const item = await readItem(key);
      if (!item) return undefined;
      const lead = { ...readRecord(validateLead, item), ...fields };
      if (dryRun) return lead;
      const { pk, sk, details, ...keys } = leadItem(account, lead);
      // Another release may have stored fields that this one does not know.
      const change = { ...keys, details: { ...Object(item.details), ...details } };
      // Index keys contain the source, and the event tells what changed.
      const read = { source: item.source, status: item.status, details: item.details };
      return readRecord(validateLead, await updateItem(buildUpdate(key, asChange(item, change), read)));
    },
    { deadline, isRetryable },
  );
}
