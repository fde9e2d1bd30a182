import { isDeepStrictEqual } from "node:util";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { encodeTime } from "ulid";
import { nameRequired, putExternalId, readNamed, updateLead } from "../../../shared/domain/create-lead.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { leadImportKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { type Fault, invalidInput } from "../../../shared/errors.ts";
import { createdAt, maxIdAhead } from "../../../shared/ids.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { UserError } from "../../user-error.ts";
import { isErased, putAbsent, type Storing, spend, storeOnce } from "../erasure/store-rows.ts";
import { toText } from "../output/printed-text.ts";
import type { LeadRow } from "./row-to-lead.ts";

/**
 * Stores the lead of a row, unless it, or one with its external id, exists.
 *
 * @param update whether to change the lead with its external id, as `POST /api/v1/leads?ifExists=update` does
 * @throws ApiError `invalid_input` if the row does not fit what is stored
 */
export async function storeLead(
  storing: Storing,
  row: LeadRow,
  update: boolean,
): Promise<"stored" | "updated" | "present" | "erased"> {
  const { account, pace } = storing;
  const { externalId } = row.lead;
  if (externalId === undefined) {
    const lead = await pace.retry(() => identify(account, row));
    return isErased(storing, lead.id) ? "erased" : storeOnce(storing, leadItem(account, lead));
  }
  const outcome = await pace.retry(async () => {
    const { leadId, item: named } = await readNamed(account, externalId);
    if (named && isErased(storing, String(named.id))) return "erased";
    if (named && update) {
      const { id: _, createdAt: __, ...fields } = row.value;
      const { record } = await updateLead(account, named, { ...fields, externalId });
      return isDeepStrictEqual(record, readRecord(validateLead, named)) ? "present" : "updated";
    }
    if (named) return "present";
    if (row.value.name === undefined) throw invalidInput([nameRequired]);
    const lead = await identify(account, row);
    if (isErased(storing, lead.id)) return "erased";
    const stored = await readItem(leadKey(account, lead.id));
    // A concurrent import has stored it since.
    if (stored && fieldsOf(stored).externalId === externalId) return "present";
    if (stored) throw invalidInput([otherExternalId]);
    const item = leadItem(account, lead);
    await transact(
      [{ Put: putAbsent(storing, item) }, putExternalId(account, externalId, lead.id, leadId)],
      true,
    );
    return "stored";
  });
  await spend(storing, row.lead, outcome);
  return outcome;
}

/** The lead of a row. Its id, unless the row has one, follows from its time and content: each import means the same lead. */
async function identify(account: string, { lead, digest, time }: LeadRow): Promise<Lead> {
  if (lead.id !== undefined) return { ...lead, id: lead.id, createdAt: createdAt(lead.id) };
  const at = lead.createdAt ? Date.parse(lead.createdAt) : await readFirstTime(account, digest, time);
  const [high, low] = [0, 5].map((start) => encodeTime(digest.readUIntBE(start, 5), 8));
  const id = `lead_${encodeTime(at, 10)}${high}${low}`;
  return { ...lead, id, createdAt: createdAt(id) };
}

/**
 * Reads the time that the first import of a row has given its lead, or records that it is this one. It is written at no pace,
 * because no request needs its partition.
 *
 * @param time milliseconds since the epoch, as is the result
 * @throws UserError when the recorded time cannot be read
 */
async function readFirstTime(account: string, digest: Buffer, time: number): Promise<number> {
  const Key = leadImportKey(account, digest.toString("hex"));
  const command = new UpdateCommand({
    TableName: tableName,
    Key,
    UpdateExpression: "SET startedAt = if_not_exists(startedAt, :time)",
    ExpressionAttributeValues: { ":time": new Date(time).toISOString() },
    ReturnValues: "ALL_NEW",
  });
  // A read costs less than an update that changes nothing.
  const record = (await readItem(Key)) ?? (await table.send(command)).Attributes;
  const startedAt = Date.parse(toText(record?.startedAt));
  if (startedAt >= 0 && startedAt <= Date.now() + maxIdAhead) return startedAt;
  throw new UserError(
    `When a row was first imported cannot be read: delete the item ${Key.pk} ${Key.sk} in the table.`,
  );
}

const otherExternalId: Fault = {
  in: "body",
  field: "externalId",
  code: "not_allowed",
  message: "must be that of the stored lead with this id, because it never changes",
};
