import { isDeepStrictEqual } from "node:util";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { isId } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { isApiKey } from "../table/item-owner.ts";
import { scanTable } from "../table/read-items.ts";
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
