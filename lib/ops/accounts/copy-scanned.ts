import { isDeepStrictEqual } from "node:util";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { isId } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { isApiKey } from "../table/item-owner.ts";
import { scanTable } from "../table/read-items.ts";
import { type Copying, type CopyOutcome, copyItem, copyLacking, ifLeadExists } from "./copy-item.ts";

/** Copies what only a scan of the source finds, as it is: records of requests that have not expired and, if wanted, API keys. */
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
 * The record of a request, unless one exists that has not expired. Of an erased lead it is copied so that no retry stores the
 * lead again, but without the response of a change. What changes its messages and conversations finds none.
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
      if (isDeepStrictEqual(stored.ids, ids)) return { item: { ...stored, ...key } };
      // Such as a webhook that both stages have got.
      repeated.add(String(Object(ids).id));
      return { left: "its request has taken effect here, too" };
    }
    if (response === undefined) return {};
    const leadId = lead ?? Object(ids).id;
    // It may have been created since.
    if (!isId("lead", leadId)) return { left: "its lead does not exist" };
    const ofLead = await ifLeadExists(copying, leadId);
    const isOwn = lead === undefined;
    return ofLead === "erased" && isOwn ? { item: { ...wanted, response: undefined } } : ofLead;
  });
}
