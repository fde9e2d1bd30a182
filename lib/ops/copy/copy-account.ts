import { leadExists } from "../../../shared/domain/leads.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { type RecordType, readStored, type StoredRecords, toItem } from "../table/stored-records.ts";
import { type Copying, copyConversation } from "./copy-conversation.ts";
import { copyItem, type Outcome, storeOnce } from "./copy-item.ts";
import { isErased } from "./store-rows.ts";

/** Copies what the source has of an account and does not follow from other items. */
export async function copyAccount(copying: Copying): Promise<void> {
  const { source, account, unreadable, count } = copying;
  const copyEach = <Type extends Exclude<RecordType, "message" | "conversation">>(
    type: Type,
    copy: (record: StoredRecords[Type]) => Promise<Outcome | "erased">,
  ) =>
    inParallel(source.items(type), async (item) => {
      const record = readStored(type, item, unreadable);
      if (record) count(await copy(record));
    });
  await copyEach("limit", (limit) => storeOnce(copying, toItem("limit", account, limit)));
  await copyEach("leadImport", (start) => storeOnce(copying, toItem("leadImport", account, start)));
  // What is erased comes before leads, leads before their conversations, and conversations before their messages.
  await copyEach("erasedLead", (erasure) => copyErased(copying, erasure));
  await copyEach("lead", async (lead) =>
    isErased(copying, lead.id) ? "erased" : copyItem(copying, toItem("lead", account, lead)),
  );
  // A conversation that ends makes room for another active one of its lead on its channel. Sixteen are copied at once, each
  // with all of its messages in memory.
  for (const isActive of [false, true])
    await inParallel(source.items("conversation"), async (item) => {
      if ((item.status === active) === isActive) await copyConversation(copying, item);
    });
}

/** Nothing of a lead is copied that is erased in the source, but only `leads erase` erases one that exists here. */
async function copyErased(copying: Copying, erasure: StoredRecords["erasedLead"]): Promise<Outcome> {
  const { account, erased, unmet, pace } = copying;
  const { leadId } = erasure;
  const exists = await pace.retry(() => leadExists(account, leadId));
  if (!erased.has(leadId)) unmet.add(leadId);
  erased.add(leadId);
  return exists ? "present" : storeOnce(copying, toItem("erasedLead", account, erasure));
}
