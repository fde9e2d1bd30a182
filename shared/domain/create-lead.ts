import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { StaleReadError } from "../dynamodb/dynamodb-errors.ts";
import { logInvalidItem } from "../dynamodb/invalid-items.ts";
import { externalIdKey, leadKey } from "../dynamodb/keys.ts";
import { type Item, isAsRead, readItem, readTogether, table, tableName } from "../dynamodb/table-client.ts";
import { withBackoff } from "../dynamodb/throttling.ts";
import { transact } from "../dynamodb/transact.ts";
import { ApiError, type Fault, invalidInput } from "../errors.ts";
import { createdAt, isId, newId } from "../ids.ts";
import { isLargeMetadata, maxMetadataBytes, metadata } from "../schemas/field-schemas.ts";
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
import { leadItem } from "./leads.ts";

/**
 * Stores a new lead.
 *
 * @throws ApiError `lead_exists` or `idempotency_key_reused`
 */
export async function createLead(
  account: string,
  input: NewLead,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  if (!idempotency && input.externalId === undefined) {
    const lead = buildLead(input);
    // If the id exists, an attempt whose response was lost has stored it.
    await table.send(new PutCommand(putLead(account, lead))).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    });
    return { record: lead, made: "created" };
  }
  return runIdempotently(
    idempotency,
    { id: "lead" },
    ({ id }) => ({ record: buildLead(input, id), made: "created" }),
    async () => {
      const lead = buildLead(input);
      try {
        await addLead(account, lead, idempotency);
      } catch (error) {
        if (!(error instanceof StaleReadError) || input.externalId === undefined) throw error;
        const { leadId, item } = await readNamed(account, input.externalId);
        if (item) throw externalIdTaken(String(leadId));
        await addLead(account, lead, idempotency, leadId);
      }
      return { record: lead, made: "created" };
    },
  );
}

const externalIdTaken = (id: string) =>
  new ApiError(
    "lead_exists",
    `This account has a lead with this externalId: ${id}. To change it, send ifExists=update.`,
    { id },
  );

/**
 * Changes the lead with an external id, or stores it if there is none.
 *
 * @throws ApiError `invalid_input` if a lead that is stored has no name, or would have too much metadata
 * @throws ApiError `idempotency_key_reused`
 * @throws TooManyAtOnceError when other requests win
 */
export function createOrUpdateLead(
  account: string,
  input: LeadUpdate,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  const key = externalIdKey(account, input.externalId);
  return withBackoff(`${key.pk} ${key.sk}`, "Too many requests change this lead at once.", () =>
    runIdempotently(
      idempotency,
      { id: "lead" },
      ({ id }, record) =>
        record.response === undefined
          ? { record: buildLead(input, id), made: "created" }
          : { record: readResponse(validateLead, record), made: "changed" },
      async () => {
        const { leadId, item } = await readNamed(account, input.externalId);
        if (item) return updateLead(account, item, input, idempotency);
        if (input.name === undefined) throw invalidInput([nameRequired]);
        const lead = buildLead(input);
        await addLead(account, lead, idempotency, leadId);
        return { record: lead, made: "created" };
      },
    ),
  );
}

/** The lead of an external id, if it exists, and what is stored as its id. */
export async function readNamed(
  account: string,
  externalId: string,
): Promise<{ leadId?: unknown; item?: Item }> {
  const key = externalIdKey(account, externalId);
  const stored = await readItem(key);
  if (!stored) return {};
  const { leadId } = stored;
  const item = isId("lead", leadId) ? await readItem(leadKey(account, leadId)) : undefined;
  if (item && item.id === leadId && fieldsOf(item).externalId === externalId) return { leadId, item };
  if (item || !isId("lead", leadId)) {
    logInvalidItem({ pk: key.pk, field: "leadId" });
    return { leadId };
  }
  // Single reads can see a part of the transaction that stores both.
  const [named, lead] = await readTogether([key, leadKey(account, leadId)]);
  // Or another lead has got the external id meanwhile.
  if (lead || (named && named.leadId !== leadId)) throw new StaleReadError();
  return { leadId: named?.leadId };
}

export async function updateLead(
  account: string,
  item: Item,
  input: Partial<LeadUpdate>,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Lead>> {
  const lead = withChanges(readRecord(validateLead, item), input);
  const { metadata: entries = {} } = lead;
  if (input.metadata && (Object.keys(entries).length > metadata.maxProperties || isLargeMetadata(entries)))
    throw invalidInput([tooMuchMetadata]);
  const update = buildLeadUpdate(account, item, lead);
  await updateOnce(idempotency, { id: lead.id }, lead, update);
  return { record: lead, made: "changed" };
}

const buildLead = (input: NewLead | LeadUpdate, id: string = newId("lead")) =>
  withChanges(
    // Metadata is returned as it was sent, also without entries.
    { id, score: 0, status: "new", tags: [], metadata: input.metadata && {}, createdAt: createdAt(id) },
    input,
  );

const putLead = (account: string, lead: Lead) => ({
  TableName: tableName,
  Item: leadItem(account, lead),
  ConditionExpression: "attribute_not_exists(pk)",
});

/**
 * The part of a transaction that stores which lead has an external id.
 *
 * @param named what is stored as the id of this lead: of none that exists, or nothing
 */
export const putExternalId = (account: string, externalId: string, leadId: string, named: unknown) => ({
  Put: {
    TableName: tableName,
    Item: { ...externalIdKey(account, externalId), leadId },
    ...isAsRead("leadId", named),
  },
});

/** Stores a lead, with its external id. @param named as for `putExternalId` */
function addLead(
  account: string,
  lead: Lead,
  idempotency: IdempotentRequest | undefined,
  named?: unknown,
): Promise<void> {
  const { id, externalId } = lead;
  const items = [
    { Put: putLead(account, lead) },
    ...(externalId === undefined ? [] : [putExternalId(account, externalId, id, named)]),
  ];
  return idempotency ? transactOnce(idempotency, { id }, items) : transact(items, true);
}

const tooMuchMetadata: Fault = {
  in: "body",
  field: "metadata",
  code: "too_large",
  message: `must have at most ${metadata.maxProperties} names and ${maxMetadataBytes} bytes as JSON, with the entries that the lead has`,
};

export const nameRequired: Fault = {
  in: "body",
  field: "name",
  code: "required",
  message: "is required, because no lead has this externalId yet",
};
