import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { readFrozenAt } from "../../../shared/domain/accounts.ts";
import { accountKey, accountPartition, leadKey } from "../../../shared/dynamodb/keys.ts";
import type { AnyPace, Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate } from "../../../shared/dynamodb/updates.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { isApiKey } from "../table/item-owner.ts";
import { listByParent, readEach } from "../table/read-items.ts";
import { deleteItems } from "../table/write-items.ts";
import { dropTrees } from "./drop-trees.ts";
import { beginErasure, endErasure } from "./erased-leads.ts";
import type { ItemsToErase } from "./items-to-erase.ts";
import { sweep } from "./sweep-erased.ts";
import { waitForWriters } from "./wait-for-writers.ts";

/**
 * Erases leads, or a whole account, by the same steps. An interrupted erasure continues when the command is run again.
 *
 * @param keyCache how long a deleted key may still work, in milliseconds
 * @throws UserError when something still writes to the account
 */
export async function erase(found: ItemsToErase, pace: Pace, keyCache = 0): Promise<void> {
  const { account, leads } = found.subject;
  if (!leads) {
    await freezeAccount(account, pace, true);
    await deleteKeys(found, pace);
  }
  await begin(found, pace);
  // Requests that found a lead before can still write, and authorizers can still accept deleted keys. Imports and copies
  // cannot write to an erased lead any more.
  await waitForWriters(leads ? "The leads are deleted" : "The keys are deleted", pace, keyCache);
  // Until the account was frozen, its keys could create leads. The sweep deletes the keys that the index did not list.
  if (!leads) await begin(found, pace);
  const nodes = await sweep(found, pace);
  for (const id of leads ?? []) await endErasure(account, id, pace);
  if (leads) return;
  await dropTrees(account, nodes, pace);
  // The account is deleted last: as long as it exists, the erasure can be continued.
  const last = await queryAll(inPartition(accountPartition("account", account)), pace);
  await deleteItems(found.take(last), pace);
}

/**
 * Freezes an account: from now on, only functions that already run write for it.
 *
 * @param creates whether to create the account if it does not exist, for an erasure of what is left without it
 * @returns since when it is frozen
 */
export const freezeAccount = (account: string, pace: AnyPace, creates = false): Promise<string> =>
  pace.retry(async () => {
    const frozenAt = (await readFrozenAt(account)) ?? new Date().toISOString();
    const update = buildUpdate(accountKey(account), { frozenAt });
    await table.send(new UpdateCommand(creates ? { ...update, ConditionExpression: undefined } : update));
    return frozenAt;
  });

/** Deletes the API keys that the index lists for an account. */
async function deleteKeys(found: ItemsToErase, pace: Pace): Promise<void> {
  const listed = await listByParent(accountPartition("apiKey", found.subject.account), pace);
  const keys = await readEach(listed.filter(isApiKey), pace);
  for (const key of keys)
    if (typeof key.accountId !== "string") found.invalid.note(key, "its accountId is not a string");
  await deleteItems(found.take(keys), pace);
}

/** Deletes the leads: from now on no request finds them, and no import stores them. */
async function begin(found: ItemsToErase, pace: Pace): Promise<void> {
  const { account, leads } = found.subject;
  const keys = Array.from(leads ?? [], (id) => leadKey(account, id));
  found.take(await readEach(keys, pace));
  await inParallel(keys, ({ sk }) => beginErasure(account, sk, pace));
  if (leads) return;
  const all = { ...inPartition(accountPartition("lead", account)), ...keysOnly };
  for await (const items of queryItems(all, pace))
    await inParallel(found.take(items), ({ sk }) => beginErasure(account, String(sk), pace));
}
