import { apiKeyState, toApiKey } from "../../../shared/domain/api-keys.ts";
import { accountPartition, leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, keysOnly, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { isApiKey } from "../table/item-owner.ts";
import { listByParent, readEach } from "../table/read-items.ts";
import { deleteItems } from "../table/write-items.ts";
import { dropTrees } from "./drop-trees.ts";
import { beginErasure, endErasure } from "./erased-leads.ts";
import type { ItemsToErase } from "./items-to-erase.ts";
import { lastPartitions, longestWrite, type Sweeping, sweep } from "./sweep-erased.ts";

interface Erasing extends Sweeping {
  /** How long a revoked key may still work, in milliseconds. */
  readonly keyCache?: number;
}

/**
 * Erases leads, or a whole account, by the same steps. It may end at any moment, and continues when it is run again.
 *
 * @throws UserError when something still writes to the account
 */
export async function erase(found: ItemsToErase, erasing: Erasing): Promise<void> {
  const { pace, keyCache = 0 } = erasing;
  let keys = found.subject.leads ? [] : await listKeys(found, pace);
  let nodes: Item[];
  do {
    const endedAt = await revokeKeys(keys, pace);
    await begin(found, erasing);
    // Requests that had found a lead still write, and revoked keys are still accepted.
    await pace.wait(Math.max(0, endedAt + keyCache - Date.now()) + longestWrite);
    // Such keys can have created leads, and an import can have stored one again.
    await begin(found, erasing);
    const kept = await sweep(found, erasing);
    [keys, nodes] = [kept.filter(isApiKey), kept.filter((item) => !isApiKey(item))];
    // The index may not have listed the newest keys.
  } while (keys.some(isLive));
  const { account, leads } = found.subject;
  if (!leads) await dropTrees(account, nodes, pace);
  await end(found, keys, pace);
}

/** Whether a key works. */
const isLive = (key: Item) => apiKeyState(toApiKey(key)) === "live";

/** The keys of an account that their index lists. */
async function listKeys(found: ItemsToErase, pace: Pace): Promise<Item[]> {
  const parent = accountPartition("apiKey", found.subject.account);
  const keys = await readEach((await listByParent(parent, pace)).filter(isApiKey), pace);
  for (const key of keys)
    if (typeof key.accountId !== "string") found.invalid.note(key, "its accountId is not a string");
  return found.take(keys);
}

/** Revokes keys that work. @returns when the last of all ended, in milliseconds since the epoch, now at the latest */
async function revokeKeys(keys: readonly Item[], pace: Pace): Promise<number> {
  let endedAt = 0;
  for (const item of keys) {
    const key = { pk: String(item.pk), sk: String(item.sk) };
    const revokedAt = new Date().toISOString();
    await pace.retry(async () => {
      if (isLive(item) && (await readItem(key))) await updateItem(buildUpdate(key, { revokedAt }));
    });
    const end = Date.parse(String(item.revokedAt ?? item.validUntil));
    const now = Date.now();
    // A key that is live or invalid can have a later end, or none.
    endedAt = Math.max(endedAt, end < now ? end : now);
  }
  return endedAt;
}

/** Deletes the leads: from now on no request finds them, and no import stores them. */
async function begin(found: ItemsToErase, { pace }: Erasing): Promise<void> {
  const { account } = found.subject;
  await inParallel(leadIds(found, pace), (id) => beginErasure(account, id, pace));
}

async function* leadIds(found: ItemsToErase, pace: Pace): AsyncGenerator<string, undefined> {
  const { account, leads } = found.subject;
  if (leads) {
    const keys = Array.from(leads, (id) => leadKey(account, id));
    found.take(await readEach(keys, pace));
    return yield* leads;
  }
  const all = { ...inPartition(accountPartition("lead", account)), ...keysOnly };
  for await (const items of queryItems(all, pace)) for (const { sk } of found.take(items)) yield String(sk);
}

/** Notes that nothing of the leads is left. Of an account, the notes are deleted: until then, it is known that it was begun. */
async function end(found: ItemsToErase, keys: readonly Item[], pace: Pace): Promise<void> {
  const { account, leads } = found.subject;
  for (const id of leads ?? []) await endErasure(account, id, pace);
  if (leads) return;
  await deleteItems(keys, pace);
  for (const pk of lastPartitions(account))
    for await (const items of queryItems(inPartition(pk), pace)) await deleteItems(found.take(items), pace);
}
