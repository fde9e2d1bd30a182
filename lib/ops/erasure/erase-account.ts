import { accountPartition, itemTypes } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { filterAccount, findOwner } from "../accounts/account-items.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import type { Pace, Wait } from "../common/pace.ts";
import type { OnRows } from "../common/progress.ts";
import { inPartition, keysOnly, queryItems, scanTable } from "../common/read-items.ts";
import { deleteItems } from "../common/write-items.ts";
import { eraseCounts } from "./erase-counts.ts";
import { isLiveKey, listKeyItems, revokeKeys } from "./erase-keys.ts";
import { longestWrite } from "./erase-leads.ts";
import { beginErasure } from "./erased-leads.ts";

interface Erasing {
  readonly pace: Pace;
  readonly wait: Wait;
  /** How long a revoked key may still work, in milliseconds. */
  readonly keyCache: number;
  readonly onRows: OnRows;
}

/** How many leads are erased at the same time. */
const parallel = 16;

/** What a scan of the table deletes, in any order. The keys of all other items are known. */
const scanned = ["lead", "conversation", "message", "active", "idempotency", "rate", "leadImport"] as const;

/**
 * Deletes everything of an account. Its keys are revoked first, so that nothing is written any more when they and the
 * requests that they had authorized have ended. Each lead leaves an erased lead, which makes its event `lead.erased`; these
 * are deleted last, so that an erasure that ends early is known as such and continues.
 *
 * @returns how many leads were erased
 * @throws UserError when something still writes to the account
 */
export async function eraseAccount(
  account: string,
  { pace, wait, keyCache, onRows }: Erasing,
): Promise<number> {
  let leads = 0;
  let keys = await listKeyItems(account, pace);
  do {
    const endedAt = await revokeKeys(keys, pace);
    leads += await eraseAllLeads(account, pace, onRows);
    await wait(Math.max(0, endedAt + keyCache - Date.now()) + longestWrite);
    leads += await eraseAllLeads(account, pace, onRows);
    keys = await eraseScanned(account, pace, onRows);
  } while (keys.some(isLiveKey));
  await eraseCounts(account, pace, wait);
  await deleteItems(keys as unknown as readonly Key[], pace);
  await deletePartition(accountPartition("limit", account), pace);
  await deletePartition(accountPartition("erasedLead", account), pace);
  return leads;
}

/** Deletes what only a scan finds. @returns the account's keys, also those that their index does not list yet */
async function eraseScanned(account: string, pace: Pace, onRows: OnRows): Promise<Item[]> {
  const keys: Item[] = [];
  const { FilterExpression, ExpressionAttributeValues } = filterAccount(account, scanned);
  const selection = {
    FilterExpression: `${FilterExpression} OR (begins_with(pk, :key) AND accountId = :account)`,
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ":key": `${itemTypes.apiKey}#`,
      ":account": account,
    },
    ExpressionAttributeNames: { "#access": "access" },
    ProjectionExpression: "pk, sk, accountId, #access, validUntil, revokedAt",
  };
  const onItems = async (items: readonly Item[]) => {
    const owned = items.map((item) => ({ item, owner: findOwner(item) }));
    const ofAccount = owned.filter(({ owner }) => owner?.account === account);
    const { keys: found = [], others = [] } = Object.groupBy(ofAccount, ({ owner }) =>
      owner?.type === "apiKey" ? "keys" : "others",
    );
    keys.push(...found.map(({ item }) => item));
    await deleteItems(others.map(({ item }) => item) as unknown as readonly Key[], pace);
  };
  await scanTable(selection, { pace, onItems, onRows });
  return keys;
}

/** Erases the leads of an account, as far as their items. */
async function eraseAllLeads(account: string, pace: Pace, onRows: OnRows): Promise<number> {
  let erased = 0;
  await forEachAtRate(leadIds(account, pace), { parallel }, async (id) => {
    await beginErasure(account, id, pace);
    erased += 1;
    onRows(1);
  });
  return erased;
}

async function* leadIds(account: string, pace: Pace): AsyncGenerator<string> {
  const leads = { ...inPartition(accountPartition("lead", account)), ...keysOnly };
  for await (const items of queryItems(leads, pace)) for (const { sk } of items) yield String(sk);
}

async function deletePartition(pk: string, pace: Pace): Promise<void> {
  for await (const items of queryItems({ ...inPartition(pk), ...keysOnly }, pace))
    await deleteItems(items as unknown as readonly Key[], pace);
}
