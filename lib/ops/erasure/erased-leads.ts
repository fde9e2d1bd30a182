import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { accountPartition, erasedLeadKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { tableTime } from "../table/table-clock.ts";
import type { Note } from "../table/unreadable.ts";
import { readsPerWrite } from "../table/write-items.ts";

/**
 * What is left of an erased lead: ids, and no data of the person. It keeps imports from storing the lead again, and makes
 * the event `lead.erased`.
 */
interface ErasedLead {
  /** The id of the erasure, which has its time. */
  readonly id: string;
  readonly leadId: string;
  /** Whether the erasure has not ended: the next one continues it. */
  readonly pending?: boolean;
}

/**
 * The erased leads of an account, in the order of their ids.
 *
 * @param note called with items that name another lead than their key, and are not followed
 */
export async function readErasedLeads(
  account: string,
  pace: Pace,
  note?: Note,
): Promise<readonly ErasedLead[]> {
  const items = await queryAll(inPartition(accountPartition("erasedLead", account)), pace);
  for (const item of items) if (item.leadId !== item.sk) note?.(item, "its leadId is not its sort key");
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
export async function beginErasure(account: string, leadId: string, pace: Pace): Promise<void> {
  const { ConsumedCapacity = [] } = await pace.retry(() => {
    // Each attempt has its own time: a late item would make no event.
    const id = newId("erasure", tableTime());
    const noteErasure = {
      Update: {
        TableName: tableName,
        Key: erasedLeadKey(account, leadId),
        UpdateExpression: "SET #id = if_not_exists(#id, :id), leadId = :leadId, pending = :pending",
        ExpressionAttributeNames: { "#id": "id" },
        ExpressionAttributeValues: { ":id": id, ":leadId": leadId, ":pending": true },
      },
    };
    const deleteLead = { Delete: { TableName: tableName, Key: leadKey(account, leadId) } };
    const TransactItems = [noteErasure, deleteLead];
    return table.send(new TransactWriteCommand({ TransactItems, ReturnConsumedCapacity: "TOTAL" }));
  });
  const units = ConsumedCapacity.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  await pace.spend(readsPerWrite * units);
}

/** Notes that nothing of the lead is left. */
export async function endErasure(account: string, leadId: string, pace: Pace): Promise<void> {
  const command = new UpdateCommand({
    TableName: tableName,
    Key: erasedLeadKey(account, leadId),
    UpdateExpression: "REMOVE pending",
    // Whoever erases the account deletes it.
    ConditionExpression: "attribute_exists(pk)",
  });
  await pace.retry(() => table.send(command));
}
