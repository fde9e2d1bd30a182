import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { logInvalidItem } from "../dynamodb/invalid-items.ts";
import {
  accountPartition,
  activeConversationKey,
  externalIdKey,
  messageKey,
  rowKey,
} from "../dynamodb/keys.ts";
import { unpaced } from "../dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll } from "../dynamodb/read-pages.ts";
import { table, tableName } from "../dynamodb/table-client.ts";
import { idTimestamp, isId } from "../ids.ts";

/**
 * For how long rows stay, in milliseconds: longer than until the next run. By the one after, they are counted, so that
 * totals become wrong if nothing counts their deletion.
 */
const kept = 7 * 60_000;

/** The prefix of the ids of rows, and the keys of what is deleted with a row. */
const types = {
  conversation: { prefix: "conv", partKey: messageKey },
  lead: { prefix: "lead", partKey: activeConversationKey },
};

/**
 * Deletes the leads or conversations of runs before the last one, whether these have ended or not. Unlike an erasure, it
 * causes no events.
 *
 * @returns how many the account had
 */
export async function deleteEarlierRows(type: keyof typeof types, account: string): Promise<number> {
  const { prefix, partKey } = types[type];
  const items = await readKeys(accountPartition(type, account));
  const ids = items.flatMap(({ pk, sk }) => {
    if (isId(prefix, sk)) return [sk];
    // Lists do not count it. It stays for whoever looks for its writer.
    logInvalidItem({ pk: String(pk), sk: String(sk), field: "sk" });
    return [];
  });
  for (const id of ids.filter((id) => idTimestamp(id) < Date.now() - kept)) {
    const parts = await readKeys(partKey(account, id, "").pk);
    // The row last, because it leads to the others. The id of a lead is the external id of another.
    const others = type === "lead" ? [...parts, externalIdKey(account, id)] : parts;
    for (const Key of [...others, rowKey(type, account, id)])
      await table.send(new DeleteCommand({ TableName: tableName, Key }));
  }
  return ids.length;
}

const readKeys = (pk: string) => queryAll({ ...inPartition(pk), ...keysOnly }, unpaced);
