import { isDeepStrictEqual } from "node:util";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { encodeTime } from "ulid";
import { nameRequired, updateLead } from "../../../shared/domain/create-lead.ts";
import { findNamed, nameTaken, putName } from "../../../shared/domain/lead-names.ts";
import { leadExists, leadItem } from "../../../shared/domain/leads.ts";
import { leadImportKey } from "../../../shared/dynamodb/keys.ts";
import { readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { invalidInput } from "../../../shared/errors.ts";
import { createdAt, maxIdAhead } from "../../../shared/ids.ts";
import type { LeadUpdate } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../../../shared/schemas/record.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import { UserError } from "../../user-error.ts";
import { isErased, putAbsent, type Storing, spend } from "../erasure/store-rows.ts";
import { toText } from "../output/printed-text.ts";
import type { LeadRow } from "./row-to-lead.ts";

/**
 * Stores the lead of a row, unless it, or one with its external id, exists.
 *
 * @param update whether to change the lead that the row names, as `POST /api/v1/leads?ifExists=update` does
 * @throws ApiError `invalid_input` if the row does not fit what is stored; `lead_exists` if another lead has an address of it
 */
export async function storeLead(
  storing: Storing,
  row: LeadRow,
  update: boolean,
): Promise<"stored" | "updated" | "present" | "erased"> {
  const { account, pace } = storing;
  const { id, externalId } = row.lead;
  const outcome = await pace.retry(async () => {
    const isKnown = id !== undefined && (await leadExists(account, id));
    const { item: named, names } = await findNamed(account, { ...row.value, id: isKnown ? id : undefined });
    if (named && isErased(storing, String(named.id))) return "erased";
    if (named && update) {
      const { record } = await updateLead(account, named, changesOf(row), names);
      return isDeepStrictEqual(record, readRecord(validateLead, named)) ? "present" : "updated";
    }
    if (named && externalId !== undefined && fieldsOf(named).externalId === externalId) return "present";
    if (row.value.name === undefined) throw invalidInput([nameRequired]);
    const lead = await identify(account, row);
    if (isErased(storing, lead.id)) return "erased";
    if (isKnown || (id === undefined && (await leadExists(account, lead.id)))) return "present";
    const taken = names.find(({ item }) => item);
    if (taken) throw nameTaken(account, taken);
    // Who asks what has changed since then is to find it, however old it is.
    const updatedAt = new Date().toISOString();
    const Put = putAbsent(storing, leadItem(account, { ...lead, updatedAt }));
    if (names.length === 0) await table.send(new PutCommand(Put));
    else await transact([{ Put }, ...names.map((name) => putName(name, lead.id))], true);
    return "stored";
  });
  await spend(storing, row.lead, outcome);
  return outcome;
}

/** What a row changes of a lead, which keeps its id and its time. */
function changesOf({ value }: LeadRow): LeadUpdate {
  const { id: _, createdAt: __, ...changes } = value;
  return changes;
}

/** The lead of a row. Its id, unless the row has one, follows from its time and content: each import means the same lead. */
async function identify(account: string, { lead, digest, time }: LeadRow) {
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
