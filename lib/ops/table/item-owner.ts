import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";

export type ItemType = keyof typeof itemTypes;

const typeNames = new Map(
  Object.entries(itemTypes).map(([name, type]) => [type as string, name as ItemType]),
);

/** The type and the account of an item, if it is of one. The partition of a key has its hash instead of its account. */
export function findOwner({ pk, accountId }: Item): { type: ItemType; account: string } | undefined {
  const { itemType = "", account = "" } = readPartition(String(pk)) ?? {};
  const type = typeNames.get(itemType);
  if (!type || type === "audit") return undefined;
  return { type, account: type !== "apiKey" ? account : typeof accountId === "string" ? accountId : "" };
}

export const isAccountId = (text: string) => /^[\w.-]{1,64}$/.test(text);
