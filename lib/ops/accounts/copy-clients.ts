import { isDeepStrictEqual } from "node:util";
import { readSenderAccount, setOwn } from "../../../shared/channels/connections.ts";
import { tokenOf } from "../../../shared/channels/secrets.ts";
import { ifValid, isText, readFields } from "../../../shared/dynamodb/invalid-items.ts";
import { accountPartition, channelKey, senderKey } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { isId } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { isMetaChannel } from "../../../shared/meta-channels.ts";
import { isSender } from "../channels/channels-command.ts";
import { getSecret, putSecret } from "../channels/secret-store.ts";
import type { TableOptions } from "../command/command.ts";
import { isApiKey } from "../table/item-owner.ts";
import { scanTable } from "../table/read-items.ts";
import { checkWritable } from "../table/store-rows.ts";
import { type Copying, type CopyOutcome, copyItem, copyLacking, ifLeadExists } from "./copy-item.ts";

/** Copies the items that only a scan of the source finds: unexpired idempotency records and, with `keys`, API keys. */
export function copyScanned(copying: Copying, keys: boolean): Promise<void> {
  const { source, counts, pace } = copying;
  const selection = {
    FilterExpression:
      "begins_with(pk, :requests) AND :now < expiresAt OR begins_with(pk, :keys) AND accountId = :account",
    ExpressionAttributeValues: {
      ":requests": `${accountPartition("idempotency", source.account)}#`,
      ":now": Math.floor(Date.now() / 1000),
      ":keys": accountPartition("apiKey", ""),
      ":account": source.account,
    },
  };
  const copyOne = async (item: Item) => {
    // A key that exists here may lack its revocation.
    const copy = isApiKey(item) ? keys && copyLacking : copyRequest;
    if (copy) counts[await copy(copying, item as Item & Key)] += 1;
  };
  return scanTable(selection, pace, (items) => inParallel(items, copyOne), source);
}

/**
 * Copies an idempotency record, unless an unexpired one exists. For an erased lead, it is copied without the response of a
 * change, so that no retry stores the lead again. Changes of its messages and conversations need none: retries find nothing.
 */
async function copyRequest(copying: Copying, item: Item): Promise<CopyOutcome> {
  const { account, source, erased, repeated } = copying;
  const { pk, sk, fingerprint, ids, response, expiresAt } = item;
  const { leadId: lead } = Object(response);
  if (erased.has(lead)) return "erased";
  const [theirs, ours] = [source.account, account].map((name) => accountPartition("idempotency", name));
  const key = { pk: String(pk).replace(String(theirs), String(ours)), sk: String(sk) };
  const wanted = { ...key, fingerprint, ids, response, expiresAt };
  return copyItem({ ...copying, replace: true }, wanted, async (stored) => {
    const hasExpired = typeof stored?.expiresAt === "number" && stored.expiresAt <= Date.now() / 1000;
    if (stored && !hasExpired) {
      if (isDeepStrictEqual(stored.ids, ids)) return "present";
      // For example, both stages have received the same webhook.
      repeated.add(String(Object(ids).id));
      return { left: "its request has taken effect here, too" };
    }
    if (response === undefined) return {};
    const leadId = lead ?? Object(ids).id;
    if (!isId("lead", leadId)) return { left: "its lead does not exist" };
    // The lead is missing here if it was created after the leads were copied.
    const ofLead = await ifLeadExists(copying, leadId);
    const isOwn = lead === undefined;
    return ofLead === "erased" && isOwn ? { item: { ...wanted, response: undefined } } : ofLead;
  });
}

/** Connects the account's channels of the source, each with its token. Channels that are connected here stay as they are. */
export async function copyChannels(copying: Copying, options: TableOptions): Promise<void> {
  const { account, source, invalid, counts, dryRun } = copying;
  const checks = { sk: isMetaChannel, sender: isSender, connectedAt: isText };
  for await (const item of source.items("channel")) {
    const connection = ifValid(() => readFields(item, checks), invalid.noteInvalid);
    if (!connection) continue;
    const { sk: channel, ...fields } = connection;
    const { sender, connectedAt } = fields;
    const wanted = { ...channelKey(account, channel), ...fields };
    const outcome = await copyItem({ ...copying, replace: false }, wanted, async (stored) => {
      const owner = await readSenderAccount(channel, sender);
      if (owner !== undefined && owner !== account) return { left: `the account ${owner} has its sender` };
      if (stored) return {};
      const token = await getSecret(options, source, tokenOf(channel, sender));
      if (token === undefined)
        return { left: `the token of ${sender} is missing or may not be read: run channels connect` };
      // A sender without a token would fail its messages.
      if (!dryRun) {
        await checkWritable(copying);
        await putSecret(options, tokenOf(channel, sender), token);
      }
      return { others: [setOwn(senderKey(channel, sender), "accountId", account, { at: connectedAt })] };
    });
    counts[outcome] += 1;
  }
}
