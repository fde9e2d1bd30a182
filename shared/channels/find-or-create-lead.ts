import { changeLead, createLead } from "../domain/create-lead.ts";
import { readName, withAddresses } from "../domain/lead-names.ts";
import { ifValid } from "../dynamodb/invalid-items.ts";
import { addressKey, comparableAddress } from "../dynamodb/keys.ts";
import { retryBriefly } from "../dynamodb/throttling.ts";
import { ApiError } from "../errors.ts";
import { maxAddresses } from "../schemas/field-schemas.ts";
import type { Lead } from "../schemas/lead-schemas.ts";
import { readRecord } from "../schemas/record.ts";
import { validateLead } from "../schemas/record-validators.ts";
import type { ReceivedMessage } from "./meta-webhook.ts";
import { toText } from "./store-delivery.ts";

/** Who writes: the addresses, that from which it is first, and the name in the profile. */
type Writer = Pick<ReceivedMessage, "channel" | "addresses" | "name">;

/**
 * The lead that writes: the one that has an address, or a new one. It gets the addresses that no other lead has, as far as it
 * can have more, and is answered at the one from which it writes. The name of the profile takes the place of an address.
 */
export const findOrCreateLead = (account: string, writer: Writer): Promise<string> =>
  retryBriefly(async () => {
    const { channel, addresses } = writer;
    const names = await Promise.all(
      addresses.map((one) => readName(account, addressKey(account, channel, one))),
    );
    const item = names.find((name) => name.item)?.item;
    if (!item) return createWriter(account, writer);
    const free = addresses.filter((_, i) => [undefined, item.id].includes(names[i]?.item?.id));
    const lead = ifValid(() => readRecord(validateLead, item));
    if (lead) await changeLead(account, item, asWriter(lead, { ...writer, addresses: free }), names);
    return String(item.id);
  });

async function createWriter(account: string, { channel, addresses, name = "" }: Writer) {
  const profile = { name: toName(name) || String(addresses[0]), source: channel };
  try {
    return (await createLead(account, { ...profile, addresses: { [channel]: [...addresses] } })).record.id;
  } catch (error) {
    // Another message of the same person has just made the lead.
    if (!(error instanceof ApiError && error.code === "lead_exists")) throw error;
    return String(error.details.id);
  }
}

const toName = (name: string) => toText(name, 200, "").replaceAll(/\s+/g, " ");

/** A lead after it has written. Its addresses stay as they are spelled, and the first is that from which it wrote. */
function asWriter(lead: Lead, { channel, addresses, name = "" }: Writer): Lead {
  const stored = lead.addresses ?? {};
  const room = Math.max(0, maxAddresses - Object.values(stored).flat().length);
  const all = withAddresses(stored, { [channel]: [...addresses] }) ?? {};
  const own = all[channel]?.slice(0, (stored[channel]?.length ?? 0) + room) ?? [];
  const [first = ""] = addresses.map(comparableAddress);
  const isOther = (address: string) => Number(comparableAddress(address) !== first);
  own.sort((a, b) => isOther(a) - isOther(b));
  const profile = own.includes(lead.name) ? toName(name) : "";
  return { ...lead, name: profile || lead.name, addresses: { ...all, [channel]: own } };
}
