import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { buildUpdate, updateItem } from "../dynamodb/conditional-update.ts";
import {
  leadKey,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { withRetry } from "../dynamodb/retry.ts";
import { readItem, table, tableName } from "../dynamodb/table-client.ts";
import { transact } from "../dynamodb/transact.ts";
import { createdAt, newId } from "../ids.ts";
import { countedPage } from "../pages/counted-page.ts";
import type { Page, PageRequest } from "../pages/page.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import { type Lead, type LeadsQuery, lead as leadSchema, type NewLead, toRecord } from "../schemas.ts";
import { type IdempotentRequest, putRecord, type Replayed, runIdempotently } from "./idempotency.ts";

/**
 * Stores a new lead.
 *
 * @param deadline in milliseconds since the epoch
 * @param request what makes it happen once, if the caller cares
 * @throws ApiError `idempotency_key_reused`, or `busy` when other writers stood in the way until the deadline
 */
export async function createLead(
  account: string,
  input: NewLead,
  deadline: number,
  request?: IdempotentRequest,
): Promise<Lead | Replayed<Lead>> {
  const buildLead = ({ id }: { id: string }) =>
    toLead({ score: 0, status: "new", tags: [], ...input, id, createdAt: createdAt(id) });
  if (!request) {
    const lead = buildLead({ id: newId("lead") });
    // One that is there already was put by an attempt whose answer was lost.
    await addLead(account, lead);
    return lead;
  }
  return runIdempotently(request, buildLead, () =>
    withRetry(deadline, async () => {
      const lead = buildLead({ id: newId("lead") });
      await transact([{ Put: putNew(account, lead) }], putRecord(request, { id: lead.id }));
      return lead;
    }),
  );
}

/**
 * Stores a lead as it is, unless the account has one of its id.
 *
 * @param imported whether no event is to tell of it
 * @returns whether it was stored
 */
export async function addLead(account: string, lead: Lead, imported = false): Promise<boolean> {
  try {
    await table.send(new PutCommand(putNew(account, lead, imported)));
    return true;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return false;
  }
}

const putNew = (account: string, lead: Lead, imported = false) => ({
  TableName: tableName,
  Item: { ...leadItem(account, lead), ...(imported && { imported }) },
  ConditionExpression: "attribute_not_exists(pk)",
});

/** Whether the account has the lead, as of now. */
export async function leadExists(account: string, id: string): Promise<boolean> {
  const projection = { ProjectionExpression: "pk" };
  return (await readItem(leadKey(account, id), projection)) !== undefined;
}

/**
 * Gives a lead another status.
 *
 * @param deadline in milliseconds since the epoch
 * @param dryRun whether nothing is written
 * @returns the lead as it is then; undefined when the account has no such lead
 */
export const setLeadStatus = (
  account: string,
  id: string,
  status: Lead["status"],
  deadline: number,
  dryRun = false,
) =>
  changeLead({ account, id, deadline, dryRun }, (lead) => ({
    status,
    ...statusKeys(account, { ...lead, status }),
  }));

/**
 * Gives a lead another score, from 0 to 100.
 *
 * @param deadline in milliseconds since the epoch
 * @param dryRun whether nothing is written
 * @returns the lead as it is then; undefined when the account has no such lead
 */
export const setLeadScore = (account: string, id: string, score: number, deadline: number, dryRun = false) =>
  changeLead({ account, id, deadline, dryRun }, () => ({ score }));

interface LeadChange {
  readonly account: string;
  readonly id: string;
  readonly deadline: number;
  readonly dryRun: boolean;
}

function changeLead({ account, id, deadline, dryRun }: LeadChange, change: (lead: Lead) => object) {
  const Key = leadKey(account, id);
  return withRetry(deadline, async () => {
    const item = await readItem(Key);
    if (!item) return undefined;
    const lead = toLead(item);
    const set = { ...change(lead) };
    if (dryRun) return toLead({ ...lead, ...set });
    // Keys of indexes are made of the source.
    return toLead(await updateItem(buildUpdate(Key, set, { source: lead.source })));
  });
}

/** A page of the account's leads, newest first. */
export function listLeads(account: string, filter: LeadsQuery, page: PageRequest): Promise<Page<Lead>> {
  const { status, source } = filter;
  return countedPage({ account, list: countedLists.lead }, { status, sourceOrChannel: source }, page, toLead);
}

/** A lead as it is stored: its fields, and a key for each index that lists it. */
function leadItem(account: string, lead: Lead) {
  const { id, source } = lead;
  return {
    ...leadKey(account, id),
    ...statusKeys(account, lead),
    ...(source !== undefined && { byOrigin: sourceOrChannelPartition("lead", account, source) }),
    ...lead,
  };
}

/** The keys of the indexes in which a lead moves when its status changes. */
const statusKeys = (account: string, { status, source }: Lead) => ({
  byStatus: statusPartition("lead", account, status),
  ...(source !== undefined && {
    byStatusAndOrigin: statusAndSourceOrChannelPartition("lead", account, status, source),
  }),
});

/** The lead that an item holds. */
export const toLead = (item: Record<string, unknown>) => toRecord<Lead>(leadSchema, item);
