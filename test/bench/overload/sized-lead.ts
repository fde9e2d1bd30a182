import { leadItem } from "../../../shared/domain/leads.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";

export const usualSources = ["website", "instagram", "whatsapp", "referral"];

/** The most bytes of a tag, whose 64 characters may take two bytes each, and the bytes that an element takes besides. */
const longestTag = 128;
const elementBytes = 1;

/** The bodies of new leads whose items have about a number of bytes, for accounts with names as long as this one. */
export function sizedLeads(
  bytes: number,
  account: string,
  sources: readonly string[],
): (n: number) => NewLead {
  const id = `lead_${"0".repeat(26)}`;
  const stored = { id, score: 0, status: "new" as const, createdAt: "2026-07-01T00:00:00.000Z" };
  const bare = itemSize(leadItem(account, { ...stored, tags: [], ...body(0, sources[0] ?? "", []) }));
  const tags: string[] = [];
  for (let left = bytes - bare; left > elementBytes; left -= longestTag + elementBytes)
    tags.push(tag(Math.min(longestTag, left - elementBytes)));
  return (n) => body(n, sources[n % sources.length] ?? "", tags);
}

const tag = (bytes: number) => "é".repeat(bytes / 2) + "x".repeat(bytes % 2);

function body(n: number, source: string, tags: string[]): NewLead {
  const mark = String(n).padStart(7, "0");
  return {
    ...{ name: `Lead ${mark}`, email: `lead-${mark}@example.com` },
    ...{ source, tags },
  };
}
