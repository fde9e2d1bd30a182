import { changeNames } from "../../../shared/domain/lead-names.ts";
import { accountPartition, erasedLeadKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { check, type TransactItems } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { newId } from "../../../shared/ids.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { tableTime } from "../table/table-clock.ts";
import type { StoredRecords } from "../table/valid-records.ts";
import { ignoreOthers, writeTogether } from "../table/write-items.ts";

/**
 * What remains of an erased lead: ids, and no personal data. This item keeps imports from storing the lead again, and causes
 * the event `lead.erased`. Every transaction that stores it or the lead ensures that the two never exist together.
 */
type ErasedLead = StoredRecords["erasedLead"] & {
  /** Whether the erasure has not ended. The next erasure in the account continues it. */
  readonly pending?: boolean;
};

/**
 * The erased leads of an account, in the order of their ids.
 *
 * @param invalid receives the items whose `leadId` is not their sort key. They are left out.
 */
export async function readErasedLeads(account: string, pace: Pace, invalid?: InvalidItems) {
  const items = await queryAll(inPartition(accountPartition("erasedLead", account)), pace);
  for (const item of items)
    if (item.leadId !== item.sk) invalid?.note(item, "its leadId is not its sort key");
  return items.filter(({ sk, leadId }) => leadId === sk) as unknown as readonly ErasedLead[];
}

/**
 * Deletes the item of a lead and begins its erasure, in one transaction. From then on, no request finds the lead, and no
 * import stores it. A repeated call changes nothing more.
 */
export const beginErasure = (account: string, leadId: string, pace: Pace): Promise<void> =>
  pace.retry(async () => {
    const item = await readItem(leadKey(account, leadId));
    // Meanwhile, a request may change the names of the lead, or an import may store the lead.
    const isUnchanged = isAsRead("details", item?.details);
    const deletion = await leadDeletion(account, leadId, item, isUnchanged);
    const Update = {
      TableName: tableName,
      Key: erasedLeadKey(account, leadId),
      // Without `undone`, no import stores a row of this lead again, also if the import that made it was undone.
      UpdateExpression:
        "SET #id = if_not_exists(#id, :id), leadId = :leadId, pending = :pending REMOVE undone",
      ExpressionAttributeNames: { "#id": "id" },
      ExpressionAttributeValues: {
        // Each attempt takes a new time: an item that is written long after its id's time causes no event.
        ":id": newId("erasure", tableTime()),
        ":leadId": leadId,
        ":pending": true,
      },
    };
    await writeTogether(pace, [{ Update }, ...deletion]);
  });

/**
 * The check for a transaction that stores a lead which may have been erased: either it is still not erased or, if `erasure`
 * was read, it is still erased only by the undo of its import.
 */
export const erasureAsRead = (account: string, leadId: string, erasure?: Item) =>
  check(erasedLeadKey(account, leadId), isAsRead(erasure ? "undone" : "pk", erasure?.undone));

/**
 * The parts of a transaction that delete the item of a lead, and the items of its names unless another lead has them.
 *
 * @param item the lead as it was read, if it exists
 * @param isUnchanged the condition that the lead is still as it was read
 */
export const leadDeletion = async (
  account: string,
  leadId: string,
  item: Item | undefined,
  isUnchanged: object,
): Promise<TransactItems> => [
  { Delete: { TableName: tableName, Key: leadKey(account, leadId), ...isUnchanged } },
  ...(await changeNames(account, leadId, fieldsOf(item ?? {}), {}, [])),
];

/** Marks an erasure as ended: nothing of the lead is left. */
export async function endErasure(account: string, leadId: string, pace: Pace): Promise<void> {
  const update = buildUpdate(erasedLeadKey(account, leadId), { pending: undefined }, { pending: true });
  // The erasure may have ended already, or an erasure of the account may have deleted its item.
  await pace.retry(() => updateItem(update).catch(ignoreOthers));
}
