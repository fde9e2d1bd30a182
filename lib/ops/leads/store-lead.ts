import { isDeepStrictEqual } from "node:util";
import { changeLead, nameRequired, putExternalId, readNamed } from "../../../shared/domain/create-lead.ts";
import { leadExists, leadItem } from "../../../shared/domain/leads.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { type Fault, invalidInput } from "../../../shared/errors.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { isStoredByRun, putAbsent, spend, storeOnce } from "../copy/copy-item.ts";
import { isErased, type Storing } from "../copy/store-rows.ts";
import type { LeadRow } from "./row-to-lead.ts";

/**
 * Stores the lead of a row, unless it, or one with its external id, exists.
 *
 * @param update whether to change the lead with its external id, as `POST /api/v1/leads?ifExists=update` does
 * @throws ApiError `invalid_input` if the row does not fit what is stored
 */
export async function storeLead(
  storing: Storing,
  { lead, value }: LeadRow,
  update: boolean,
): Promise<"stored" | "updated" | "present" | "erased"> {
  const { account, pace } = storing;
  const { id, externalId } = lead;
  const item = leadItem(account, lead);
  const erased = isErased(storing, id);
  if (externalId === undefined) return erased ? "erased" : storeOnce(storing, item);
  const outcome = await pace.retry(async () => {
    const { leadId, item: named } = await readNamed(account, externalId);
    // The external id of an erased lead may be that of a new one.
    if (erased && (!named || leadId === id)) return "erased";
    if (named && isStoredByRun(storing, named, item)) return "stored";
    if (named && update) {
      const { id: _, createdAt: __, ...fields } = value;
      const { record } = await changeLead(account, named, { ...fields, externalId }, undefined);
      return isDeepStrictEqual(record, readRecord(validateLead, named)) ? "present" : "updated";
    }
    if (named) return "present";
    if (value.name === undefined) throw invalidInput([nameRequired]);
    if (await leadExists(account, id)) throw invalidInput([otherExternalId]);
    await transact([putAbsent(storing, item), putExternalId(account, externalId, id, leadId)], true);
    return "stored";
  });
  await spend(storing, item, outcome);
  return outcome;
}

const otherExternalId: Fault = {
  in: "body",
  field: "externalId",
  code: "not_allowed",
  message: "must be that of the stored lead with this id, because it never changes",
};
