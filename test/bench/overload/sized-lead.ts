import { leadItem } from "../../../shared/domain/leads.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { itemSize } from "../pages/item-size.ts";

const sources = ["website", "instagram", "whatsapp", "referral"];

/** The most tags of a lead, the longest one, and the bytes that an element takes besides. */
const mostTags = 50;
const longestTag = 64;
const elementBytes = 1;

/**
 * The bodies of new leads whose items have about a number of bytes (300 to 3,900), for accounts with names as long as
 * this one.
 */
export function sizedLeads(bytes: number, account: string): (n: number) => NewLead {
  const id = `lead_${"0".repeat(26)}`;
  const stored = { id, score: 0, status: "new" as const, createdAt: "2026-07-01T00:00:00.000Z" };
  const size = (lead: NewLead) => itemSize(leadItem(account, { ...stored, tags: [], ...lead }));
  const tags: string[] = [];
  let left = bytes - size(body(0, tags, ""));
  for (; left > elementBytes && tags.length < mostTags; left -= longestTag + elementBytes)
    tags.push("x".repeat(Math.min(longestTag, left - elementBytes)));
  const rest = " x".repeat(Math.max(0, left) / 2);
  return (n) => body(n, tags, rest);
}

function body(n: number, tags: string[], rest: string): NewLead {
  const mark = String(n).padStart(7, "0");
  return {
    ...{ name: `Lead ${mark}${rest}`, email: `lead-${mark}@example.com` },
    ...{ source: sources[n % sources.length] ?? "", tags },
  };
}
