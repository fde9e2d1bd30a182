import { apiKeyState } from "../../../shared/domain/api-keys.ts";
import { accountApiKeysPartition, indexes, itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { endApiKey, listApiKeys } from "../changes/api-key-changes.ts";
import { deleteItems } from "../delete-items.ts";
import type { Pace } from "../pace.ts";
import { queryItems } from "../query-items.ts";

/** Revokes the keys of an account that work. @returns when the last key of the account ended, in milliseconds since the epoch */
export async function revokeKeys(account: string, pace: Pace): Promise<number> {
  const now = new Date();
  let endedAt = 0;
  for (const key of await pace.retry(() => listApiKeys(account))) {
    const { keyId, revokedAt, validUntil } = key;
    const isLive = apiKeyState(key) === "live";
    if (isLive) await pace.retry(() => endApiKey({ account, keyId }, { revokedAt: now.toISOString() }));
    const end = isLive ? now.getTime() : Date.parse(revokedAt ?? validUntil ?? "");
    endedAt = Math.max(endedAt, Number.isNaN(end) ? now.getTime() : end);
  }
  return endedAt;
}

/** Deletes the keys of an account. */
export async function deleteKeys(account: string, pace: Pace): Promise<void> {
  const selection = {
    IndexName: "by-parent",
    KeyConditionExpression: "#parent = :parent",
    ExpressionAttributeNames: { "#parent": indexes["by-parent"] },
    ExpressionAttributeValues: { ":parent": accountApiKeysPartition(account) },
    ProjectionExpression: "pk, sk",
  };
  for await (const items of queryItems(selection, pace))
    await deleteItems(
      // Any role that writes index keys can list other items here.
      (items as unknown as readonly Key[]).filter(
        ({ pk }) => readPartition(pk)?.itemType === itemTypes.apiKey,
      ),
      pace,
    );
}
