import { putExternalId, readNamed } from "../../../shared/domain/create-lead.ts";
import { leadExists } from "../../../shared/domain/leads.ts";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { inPartition, queryAll } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import { isErased, storeOnce } from "../erasure/store-rows.ts";
import { type RecordType, readStored, type StoredRecords, toItem } from "../table/valid-records.ts";
import { copyConversation } from "./copy-conversation.ts";
import { type Adapt, type Copying, type CopyOutcome, copyItem } from "./copy-item.ts";

/** Copies what the source has of an account and does not follow from other items. */
export async function copyAccount(copying: Copying): Promise<void> {
  const { source, account, invalid, counts, dryRun, wouldExist, erased, pace } = copying;
  const copyEach = <Type extends Exclude<RecordType, "message" | "conversation">>(
    type: Type,
    copy: (record: StoredRecords[Type]) => Promise<CopyOutcome | "erased">,
    items: readonly Item[] | AsyncGenerator<Item> = source.items(type),
  ) =>
    inParallel(items, async (item) => {
      const record = readStored(type, item, invalid);
      if (record) counts[await copy(record)] += 1;
    });
  await copyEach("limit", (limit) => storeOnce(copying, toItem.limit(account, limit)));
  await copyEach("leadImport", (start) => storeOnce(copying, toItem.leadImport(account, start)));
  // What is erased comes before leads, leads before their conversations, and conversations before their messages.
  await copyEach("erasedLead", (erasure) => copyErased(copying, erasure));
  // Who was erased here since the other table was restored does not come back under another name of the account.
  if (account !== source.account) {
    const here = await queryAll(inPartition(accountPartition("erasedLead", source.account)), pace);
    const unknown = here.filter(({ sk }) => !erased.has(String(sk)));
    await copyEach("erasedLead", (erasure) => copyErased(copying, erasure), unknown);
  }
  await copyEach("lead", async (lead) => {
    if (isErased(copying, lead.id)) return "erased";
    const item = toItem.lead(account, lead);
    const outcome = await copyItem(copying, item, (stored) => nameLead(account, lead, stored));
    if (dryRun && outcome === "stored") wouldExist.add(lead.id);
    return outcome;
  });
  // A conversation that ends makes room for another active one of its lead on its channel. Sixteen are copied at once, each
  // with all of its messages in memory.
  for (const isActive of [false, true])
    await inParallel(source.items("conversation"), async (item) => {
      if ((item.status === active) === isActive) await copyConversation(copying, item);
    });
}

/** The item of the external id that a copied lead has in its account; no two leads have the same one, and it never changes. */
async function nameLead(account: string, { id, externalId }: Lead, stored?: Item): ReturnType<Adapt> {
  if (stored && fieldsOf(stored).externalId !== externalId)
    return { left: "its externalId is not the stored one" };
  if (externalId === undefined) return {};
  const { leadId, item } = await readNamed(account, externalId);
  if (item && leadId !== id) return { left: `the lead ${leadId} has its externalId` };
  return item && stored ? {} : { others: [putExternalId(account, externalId, id, leadId)] };
}

/** Nothing of an erased lead is copied, but only `leads erase` erases one that exists here. */
async function copyErased(copying: Copying, erasure: StoredRecords["erasedLead"]): Promise<CopyOutcome> {
  const { account, erased, unmet, pace } = copying;
  const { leadId } = erasure;
  const exists = await pace.retry(() => leadExists(account, leadId));
  if (!erased.has(leadId)) unmet.add(leadId);
  erased.add(leadId);
  return exists ? "present" : storeOnce(copying, toItem.erasedLead(account, erasure));
}
