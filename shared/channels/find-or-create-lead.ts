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
import { toText } from "./message-content.ts";
import type { ReceivedMessage } from "./meta-webhook.ts";

/** The person who writes: their addresses, first the one that they write from, and the name in their profile. */
type Writer = Pick<ReceivedMessage, "channel" | "addresses" | "name">;

/**
 * Finds the lead that has an address of the writer, or creates a lead. The lead gets the addresses that no other lead has,
 * as far as it has room, and is answered at the address it writes from. If its name is an address, the profile's name
 * replaces the address.
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
    // Another message of the same person has just created the lead.
    if (!(error instanceof ApiError && error.code === "lead_exists")) throw error;
    return String(error.details.id);
  }
}

const toName = (name: string) => toText(name, 200, "").replaceAll(/\s+/g, " ");

/** A lead after it has written. Stored addresses keep their spelling, and the address it wrote from becomes the first. */
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
