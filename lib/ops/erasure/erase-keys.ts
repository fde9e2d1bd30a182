import { apiKeyState, toApiKey } from "../../../shared/domain/api-keys.ts";
import { accountApiKeysPartition, indexes, itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { Pace } from "../common/pace.ts";
import { queryItems } from "../common/read-items.ts";
import { endApiKey } from "../keys/api-key-changes.ts";

/** The items of an account's keys that their index lists: it may not list the newest yet. */
export async function listKeyItems(account: string, pace: Pace): Promise<Item[]> {
  const selection = {
    IndexName: "by-parent",
    KeyConditionExpression: "#parent = :parent",
    ExpressionAttributeNames: { "#parent": indexes["by-parent"] },
    ExpressionAttributeValues: { ":parent": accountApiKeysPartition(account) },
  };
  const keys: Item[] = [];
  // Any role that writes index keys can list other items here.
  for await (const items of queryItems(selection, pace))
    keys.push(...items.filter(({ pk }) => readPartition(String(pk))?.itemType === itemTypes.apiKey));
  return keys;
}

/** Whether a key works. */
export const isLiveKey = (item: Item) => apiKeyState(toApiKey(item)) === "live";

/** Revokes the keys that work. @returns when the last of all ended, in milliseconds since the epoch; never a later time than now */
export async function revokeKeys(items: readonly Item[], pace: Pace): Promise<number> {
  let endedAt = 0;
  for (const item of items) {
    const revokedAt = new Date().toISOString();
    const sha256 = readPartition(String(item.pk))?.account ?? "";
    if (isLiveKey(item))
      await pace.retry(() =>
        endApiKey({ keyId: String(item.sk), sha256, account: undefined }, { revokedAt }),
      );
    const end = Date.parse(String(item.revokedAt ?? item.validUntil));
    const now = Date.now();
    // A key that is live or invalid can have a later end, or none.
    endedAt = Math.max(endedAt, end < now ? end : now);
  }
  return endedAt;
}
