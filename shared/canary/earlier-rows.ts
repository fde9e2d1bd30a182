import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { accountPartition, activeConversationKey, messageKey } from "../dynamodb/keys.ts";
import { unpaced } from "../dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll } from "../dynamodb/read-pages.ts";
import { table, tableName } from "../dynamodb/table-client.ts";
import { idTimestamp } from "../ids.ts";

/**
 * For how long rows stay, in milliseconds: longer than until the next run. By the one after, they are counted, so that
 * totals become wrong if nothing counts their deletion.
 */
const kept = 7 * 60_000;

/** The keys of what is deleted with a row. */
const partKeys = { conversation: messageKey, lead: activeConversationKey };

/**
 * Deletes the leads or conversations of runs before the last one, whether these have ended or not. Unlike an erasure, it
 * causes no events.
 *
 * @returns how many the account had
 */
export async function deleteEarlierRows(type: keyof typeof partKeys, account: string): Promise<number> {
  const rows = await readKeys(accountPartition(type, account));
  for (const row of rows.filter(({ sk }) => idTimestamp(String(sk)) < Date.now() - kept)) {
    const parts = await readKeys(partKeys[type](account, String(row.sk), "").pk);
    // The row last, because it leads to the others.
    for (const Key of [...parts, row]) await table.send(new DeleteCommand({ TableName: tableName, Key }));
  }
  return rows.length;
}

const readKeys = (pk: string) => queryAll({ ...inPartition(pk), ...keysOnly }, unpaced);
