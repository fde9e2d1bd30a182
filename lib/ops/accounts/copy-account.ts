import { changeNames, nameKeys, readName } from "../../../shared/domain/lead-names.ts";
import { leadExists, leadItem } from "../../../shared/domain/leads.ts";
import { accountPartition, erasedLeadKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { inPartition, queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, isAsRead, readItem } from "../../../shared/dynamodb/table-client.ts";
import { check } from "../../../shared/dynamodb/transact.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import { erasureAsRead } from "../erasure/erased-leads.ts";
import { checkWritable } from "../table/store-rows.ts";
import { type RecordType, readStored, type StoredRecords, toItem } from "../table/valid-records.ts";
import { type Adapt, type Copying, type CopyOutcome, copyItem, copyLacking, once } from "./copy-item.ts";

/** Copies the settings of an account, its records of imported rows, its erased leads and its leads. */
export async function copyAccount(copying: Copying): Promise<void> {
  const { source, account, invalid, counts, dryRun, wouldExist, erased, pace } = copying;
  const copyEach = <Type extends Exclude<RecordType, "message" | "conversation">>(
    type: Type,
    copy: (record: StoredRecords[Type]) => Promise<CopyOutcome>,
    items: readonly Item[] | AsyncGenerator<Item> = source.items(type),
  ) =>
    inParallel(items, async (item) => {
      const record = readStored(type, item, invalid);
      if (record) counts[await copy(record)] += 1;
    });
  await copyEach("account", (own) => copyLacking(copying, toItem.account(account, own)));
  // From now on, the absence of the account means that it was erased.
  if (!dryRun) await checkWritable(copying);
  await copyEach("leadImport", (start) => copyItem(copying, toItem.leadImport(account, start), once));
  // Erased leads come before leads, leads before their conversations, and conversations before their messages.
  await copyEach("erasedLead", (erasure) => copyErased(copying, erasure));
  // A lead that was erased here since the other table was restored must not come back under another name of the account.
  if (account !== source.account) {
    const here = await queryAll(inPartition(accountPartition("erasedLead", source.account)), pace);
    const unknown = here.filter(({ sk }) => !erased.has(String(sk)));
    await copyEach("erasedLead", (erasure) => copyErased(copying, erasure), unknown);
  }
  await copyEach("lead", async (lead) => {
    if (erased.has(lead.id)) return "erased";
    const item = toItem.lead(account, lead);
    const outcome = await copyItem(copying, item, (stored) => adaptLead(copying, lead, stored));
    if (dryRun && outcome === "stored") wouldExist.add(lead.id);
    return outcome;
  });
}

/** More than the API changes of a lead, and fewer than fit into one transaction: a planted lead ends no copy. */
const maxNameChanges = 50;

/**
 * What is written with a copied lead: its names, which no other lead can have. An external id never changes. `updatedAt`
 * stays that of this table.
 */
async function adaptLead({ account, replace }: Copying, lead: Lead, stored?: Item): ReturnType<Adapt> {
  const { id, externalId } = lead;
  if (!stored && (await readItem(erasedLeadKey(account, id)))) return "erased";
  const before = stored && fieldsOf(stored);
  if (before?.externalId !== undefined && before.externalId !== externalId)
    return { left: "its externalId is not the stored one" };
  const named = before && !replace ? before : { ...lead };
  const names = await Promise.all(nameKeys(account, named).map((key) => readName(account, key)));
  const taken = names.find(({ item }) => item && item.id !== id);
  if (taken) return { left: `the lead ${taken.leadId} has its externalId or an address of it` };
  const changes = await changeNames(account, id, before ?? {}, named, names);
  if (changes.length > maxNameChanges) return { left: "it has too many addresses" };
  const others = stored ? changes : [erasureAsRead(account, id), ...changes];
  const { updatedAt = lead.updatedAt } = (before ?? {}) as Partial<Lead>;
  return { item: leadItem(account, { ...lead, updatedAt }), others };
}

/** Copies an erasure, so that nothing of the lead is copied. A lead that exists here stays: only `leads erase` erases it. */
function copyErased(copying: Copying, erasure: StoredRecords["erasedLead"]): Promise<CopyOutcome> {
  const { account } = copying;
  const { leadId } = erasure;
  copying.erased.add(leadId);
  const isAbsent = check(leadKey(account, leadId), isAsRead("pk", undefined));
  return copyItem(copying, toItem.erasedLead(account, erasure), async (stored) =>
    stored || (await leadExists(account, leadId)) ? "present" : { others: [isAbsent] },
  );
}
