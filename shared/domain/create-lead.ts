import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { StaleReadError } from "../dynamodb/dynamodb-errors.ts";
import { accountPartition, leadKey } from "../dynamodb/keys.ts";
import { type Item, readTogether, table, tableName } from "../dynamodb/table-client.ts";
import { withBackoff } from "../dynamodb/throttling.ts";
import { transact } from "../dynamodb/transact.ts";
import { ApiError, bodyFault, invalidInput } from "../errors.ts";
import { createdAt, newId } from "../ids.ts";
import { hasTooMuch, maxAddresses, maxBytes, metadata, tooManyAddresses } from "../schemas/field-schemas.ts";
import type { Lead, LeadUpdate, NewLead } from "../schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../schemas/record.ts";
import { validateLead } from "../schemas/record-validators.ts";
import {
  type IdempotentRequest,
  readResponse,
  runIdempotently,
  transactOnce,
  updateOnce,
  type WriteOutcome,
} from "./idempotent-replay.ts";
import { buildLeadUpdate, withChanges } from "./lead-changes.ts";
import {
  changeNames,
  checkTogether,
  findNamed,
  type LeadName,
  nameKeys,
  nameTaken,
  putName,
  readName,
} from "./lead-names.ts";
import { leadExists, leadItem } from "./leads.ts";
import { notFound } from "./not-found.ts";

/**
 * Stores a new lead.
 *
 * @throws ApiError `lead_exists`, `idempotency_key_reused`, or `lead_not_found` if the lead of a repeated request was erased
 */
export async function createLead(
  account: string,
  input: NewLead,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  const first = buildLead(input);
  const keys = nameKeys(account, first);
  if (!idempotency && keys.length === 0) {
    // If the id exists, an earlier attempt stored it, and its response was lost.
    await table.send(new PutCommand(putLead(account, first))).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    });
    return { record: first, made: "created" };
  }
  return runIdempotently(
    idempotency,
    { id: "lead" },
    ({ id }) => ({ record: buildLead(input, id), made: "created" }),
    async () => {
      try {
        return await addLead(account, input, idempotency);
      } catch (error) {
        if (!(error instanceof StaleReadError) || keys.length === 0) throw error;
        const names = await Promise.all(keys.map((key) => readName(account, key)));
        const taken = names.find(({ item }) => item);
        if (taken) throw nameTaken(account, taken);
        return addLead(account, input, idempotency, names);
      }
    },
    (lead) => checkReplay(account, lead),
  );
}

/**
 * Changes the lead that a request names, or stores a new lead if there is none.
 *
 * @throws ApiError `invalid_input` if a new lead has no name, or a lead would have too much metadata or too many addresses
 * @throws ApiError `lead_not_found` if no lead has the id, or the lead of a repeated request was erased
 * @throws ApiError `lead_exists` if the request's names belong to different leads, or its lead has another external id
 * @throws ApiError `idempotency_key_reused`
 * @throws TooManyAtOnceError when other requests win
 */
export function createOrUpdateLead(
  account: string,
  input: LeadUpdate,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  const [key = { sk: input.id }] = nameKeys(account, withChanges({}, input));
  const scope = `${accountPartition("lead", account)} ${key.sk}`;
  return withBackoff(scope, "Too many requests change this lead at once.", () =>
    runIdempotently(
      idempotency,
      { id: "lead" },
      ({ id }, record) =>
        record.response === undefined
          ? { record: buildLead(input, id), made: "created" }
          : { record: readResponse(validateLead, record), made: "changed" },
      async () => {
        const { item, names } = await findNamed(account, input);
        if (item) return updateLead(account, item, input, names, idempotency);
        if (input.id !== undefined) throw notFound("lead", "id", input.id);
        if (input.name === undefined) {
          await checkTogether(account, names, []);
          throw invalidInput([nameRequired]);
        }
        return addLead(account, input, idempotency, names);
      },
      (lead) => checkReplay(account, lead),
    ),
  );
}

/** Refuses a replay for an erased lead: a retry must not return it or store it again. @throws ApiError `lead_not_found` */
async function checkReplay(account: string, { id }: Lead): Promise<void> {
  if (await leadExists(account, id)) return;
  // A single read can miss a part of the transaction that stored the lead.
  const [lead] = await readTogether([leadKey(account, id)]);
  if (!lead) throw new ApiError("lead_not_found", "The lead of this request was erased.");
}

/** Changes a lead. @param names the names of the request, as they were read */
export async function updateLead(
  account: string,
  item: Item,
  input: LeadUpdate,
  names: readonly LeadName[],
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  const before = readRecord(validateLead, item);
  const after = withChanges(before, input);
  const faults = [
    ...(input.metadata && hasTooMuch(after.metadata) ? [tooMuchMetadata] : []),
    ...(input.addresses && hasTooMany(after.addresses) ? [withTooMany] : []),
  ];
  if (faults.length > 0) throw invalidInput(faults);
  return changeLead(account, item, after, names, idempotency);
}

/** Changes a stored lead to `after`, if anything differs. @param names the names that it may get, as they were read */
export async function changeLead(
  account: string,
  item: Item,
  after: Lead,
  names: readonly LeadName[],
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  const { lead, update } = buildLeadUpdate(account, item, after);
  const others = update && (await changeNames(account, lead.id, fieldsOf(item), after, names));
  await updateOnce(idempotency, { id: lead.id }, lead, update, others);
  return { record: lead, made: "changed" };
}

const hasTooMany = (addresses: Lead["addresses"] = {}) =>
  Object.values(addresses).flat().length > maxAddresses;

const buildLead = (input: NewLead | LeadUpdate, id: string = newId("lead")) => {
  const time = createdAt(id);
  const fields = { id, score: 0, status: "new", createdAt: time, updatedAt: time } as const;
  // Metadata is returned as it was sent, even if it has no entries.
  return withChanges({ ...fields, tags: [], metadata: input.metadata && {} }, input);
};

const putLead = (account: string, lead: Lead) => ({
  TableName: tableName,
  Item: leadItem(account, lead),
  ConditionExpression: "attribute_not_exists(pk)",
});

/** Stores a new lead with its names. @param names as they were read; if omitted, none of its names may be claimed yet */
async function addLead(
  account: string,
  input: NewLead | LeadUpdate,
  idempotency: IdempotentRequest | undefined,
  names?: readonly LeadName[],
): Promise<WriteOutcome<Lead>> {
  const record = buildLead(input);
  const { id } = record;
  const given = names ?? nameKeys(account, record).map((key) => ({ key }));
  const items = [{ Put: putLead(account, record) }, ...given.map((name) => putName(name, id))];
  await (idempotency ? transactOnce(idempotency, { id }, items) : transact(items));
  return { record, made: "created" };
}

const tooMuchMetadata = bodyFault(
  "metadata",
  "too_large",
  `must have at most ${metadata.maxProperties} names and ${maxBytes.metadata} bytes as JSON, with the entries that the lead has`,
);

const withTooMany = bodyFault("addresses", "too_many", `${tooManyAddresses}, with those that the lead has`);

export const nameRequired = bodyFault("name", "required", "is required, because there is no such lead yet");
