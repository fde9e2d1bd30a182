import { type ItemType, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";

/** The type and the account of an item, if it has both. The partition keys of API keys and senders contain no account. */
export function findOwner({ pk, accountId }: Item): { type: ItemType; account: string } | undefined {
  const { type, account = "" } = readPartition(String(pk)) ?? {};
  if (!type || type === "audit") return undefined;
  if (type !== "apiKey" && type !== "sender") return { type, account };
  return { type, account: typeof accountId === "string" ? accountId : "" };
}

/** Whether an item is an API key, of any account. */
export const isApiKey = (item: Item) => findOwner(item)?.type === "apiKey";

export const isAccountId = (text: string) => /^[\w.-]{1,64}$/.test(text);
