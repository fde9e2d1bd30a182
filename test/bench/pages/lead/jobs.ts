import { ulid } from "ulid";
import { seeded, skewed } from "../../../support/random.ts";
import type { Job, Scale } from "../job.ts";
import { evenTime } from "../leads.ts";
import { Population } from "../population.ts";
import type { ConversationRow } from "../rows.ts";
import type { LeadReport } from "./read-lead.ts";

/** The channels of a lead and their shares; or each conversation has a channel of its own. */
export const channelShares = [
  ["web-chat", 60],
  ["email", 25],
  ["sms", 10],
  ["whatsapp", 4],
  ["fax", 1],
] as const;

const statusShares = [
  ["active", 90],
  ["ended", 10],
] as const;

/** Of other leads, so that the lead is not the whole account. */
const otherConversations = 1000;

/** Reads the lists of one lead with many conversations. */
export const leadJobs = (scale: Scale): Job<LeadReport>[] =>
  (scale === "quick" ? [1000, 5000] : [1000, 5000, 50_000]).map((size) => ({
    name: `lead-${size}`,
    prepare() {
      const accounts = [false, true].map((ownChannels) => ({ ownChannels, ...build(size, ownChannels) }));
      return {
        populations: accounts.map(({ population }) => population),
        async measure(log) {
          const { readLead } = await import("./read-lead.ts");
          const reports = [];
          for (const { population, leadId, ownChannels } of accounts) {
            log(`reading ${population.account}`);
            reports.push({ size, ownChannels, ...(await readLead(population, leadId, ownChannels)) });
          }
          return reports;
        },
      };
    },
  }));

function build(size: number, ownChannels: boolean) {
  const random = seeded(size);
  const status = skewed(random, statusShares);
  const channel = skewed(random, channelShares);
  const leadId = `lead_${ulid(evenTime(0, 1), random)}`;
  const all = size + otherConversations;
  const everyNth = Math.floor(all / otherConversations);
  let others = 0;
  const rows = Array.from({ length: all }, (_, n): ConversationRow => {
    const isOther = n % everyNth === 0 && others < otherConversations;
    if (isOther) others++;
    const at = evenTime(n, all);
    return {
      id: `conv_${ulid(at, random)}`,
      status: status(),
      leadId: isOther ? `lead_${ulid(at, random)}` : leadId,
      channel: ownChannels && !isOther ? `channel-${String(n).padStart(6, "0")}` : channel(),
    };
  });
  const account = ownChannels ? "own-channels" : "five-channels";
  return { leadId, population: new Population<ConversationRow>(account, rows) };
}
