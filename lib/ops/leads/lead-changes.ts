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
 * Changes the status of a lead.
 *
 * @param deadline until when to retry, in milliseconds since the epoch
 * @param dryRun whether to write nothing
 * @returns the changed lead; undefined when the account has no such lead
 * @throws MalformedItemError, StaleReadError, or the error of a conflict, when other writers won until the deadline
 */
export const setLeadStatus = (
  account: string,
  id: string,
  status: Lead["status"],
  deadline: number,
  dryRun = false,
) => changeLead(account, id, deadline, dryRun, { status });

/** Changes the score of a lead (0 to 100). Parameters and result are those of `setLeadStatus`. */
export const setLeadScore = (account: string, id: string, score: number, deadline: number, dryRun = false) =>
  changeLead(account, id, deadline, dryRun, { score });

function changeLead(
  account: string,
  id: string,
  deadline: number,
  dryRun: boolean,
  fields: Partial<Lead>,
): Promise<Lead | undefined> {
  const key = leadKey(account, id);
  return withRetry(
    async () => {
      const item = await readItem(key);
      if (!item) return undefined;
      const lead = { ...readRecord(validateLead, item), ...fields };
      if (dryRun) return lead;
      const { pk, sk, ...change } = leadItem(account, lead);
      // Index keys contain the source, and the event tells what changed.
      const read = { source: item.source, status: item.status, details: item.details };
      return readRecord(validateLead, await updateItem(buildUpdate(key, asChange(item, change), read)));
    },
    { deadline, isRetryable },
  );
}
