import { changeNames } from "../../../shared/domain/lead-names.ts";
import { classify } from "../../../shared/dynamodb/dynamodb-errors.ts";
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
import { writeTogether } from "../table/write-items.ts";

/**
 * What is left of an erased lead: ids, and no data of the person. It keeps imports from storing the lead again, and makes
 * the event `lead.erased`. No transaction stores it beside the lead, or the lead beside it.
 */
type ErasedLead = StoredRecords["erasedLead"] & {
  /** Whether the erasure has not ended: the next one continues it. */
  readonly pending?: boolean;
};

/**
 * The erased leads of an account, in the order of their ids.
 *
 * @param invalid gets the items that name another lead than their key, and are not followed
 */
export async function readErasedLeads(account: string, pace: Pace, invalid?: InvalidItems) {
  const items = await queryAll(inPartition(accountPartition("erasedLead", account)), pace);
  for (const item of items)
    if (item.leadId !== item.sk) invalid?.note(item, "its leadId is not its sort key");
  return items.filter(({ sk, leadId }) => leadId === sk) as unknown as readonly ErasedLead[];
}

/** The ids of the erased leads of an account. */
export async function readErasedIds(account: string, pace: Pace): Promise<ReadonlySet<string>> {
  return new Set((await readErasedLeads(account, pace)).map(({ leadId }) => leadId));
}

/**
 * Deletes the item of a lead and begins its erasure, all or nothing: from now on no request finds the lead, and no import
 * stores it. It changes nothing more when it is repeated.
 */
export const beginErasure = (account: string, leadId: string, pace: Pace): Promise<void> =>
  pace.retry(async () => {
    const item = await readItem(leadKey(account, leadId));
    // A request may change its names meanwhile, or an import store it.
    const isUnchanged = isAsRead("details", item?.details);
    const deletion = await leadDeletion(account, leadId, item, isUnchanged);
    const Update = {
      TableName: tableName,
      Key: erasedLeadKey(account, leadId),
      // An import stores no row of it, also if its import was undone.
      UpdateExpression:
        "SET #id = if_not_exists(#id, :id), leadId = :leadId, pending = :pending REMOVE undone",
      ExpressionAttributeNames: { "#id": "id" },
      ExpressionAttributeValues: {
        // Each attempt has its own time: a late item would make no event.
        ":id": newId("erasure", tableTime()),
        ":leadId": leadId,
        ":pending": true,
      },
    };
    await writeTogether(pace, [{ Update }, ...deletion]);
  });

/**
 * The part of a transaction that stores a lead which may have been erased: it still is not or, if it was read so, only with
 * its import.
 */
export const erasureAsRead = (account: string, leadId: string, erasure?: Item) =>
  check(erasedLeadKey(account, leadId), isAsRead(erasure ? "undone" : "pk", erasure?.undone));

/**
 * The parts of a transaction that delete the item of a lead and those of its names that no other lead has.
 *
 * @param item the lead as it was read, if it exists
 * @param isUnchanged the condition that it is as it was read
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

/** Notes that nothing of the lead is left. */
export async function endErasure(account: string, leadId: string, pace: Pace): Promise<void> {
  const update = buildUpdate(erasedLeadKey(account, leadId), { pending: undefined }, { pending: true });
  await pace.retry(() =>
    updateItem(update).catch((error: unknown) => {
      // It has ended, or who erases the account has deleted its item.
      if (classify(error) !== "conflict") throw error;
    }),
  );
}
