import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";

export type OwnedItemType = keyof typeof itemTypes;

const ownedItemTypes = new Map(
  Object.entries(itemTypes).map(([name, type]) => [type as string, name as OwnedItemType]),
);

/** The type and the account of an item, if it has both. The partition keys of API keys and senders contain no account. */
export function findOwner({ pk, accountId }: Item): { type: OwnedItemType; account: string } | undefined {
  const { itemType = "", account = "" } = readPartition(String(pk)) ?? {};
  const type = ownedItemTypes.get(itemType);
  if (!type || type === "audit") return undefined;
  if (type !== "apiKey" && type !== "sender") return { type, account };
  return { type, account: typeof accountId === "string" ? accountId : "" };
}

/** Whether an item is an API key, of any account. */
export const isApiKey = (item: Item) => findOwner(item)?.type === "apiKey";

export const isAccountId = (text: string) => /^[\w.-]{1,64}$/.test(text);
