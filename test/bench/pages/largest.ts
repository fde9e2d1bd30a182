import { openConversations } from "../../../shared/domain/conversations/conversations.ts";
import { sendMessage } from "../../../shared/domain/conversations/messages.ts";
import { createLead } from "../../../shared/domain/create-lead.ts";
import { idempotentRequest } from "../../../shared/domain/idempotent-replay.ts";
import { listLeads } from "../../../shared/domain/leads.ts";
import { createLeadRoute, type Route, sendMessageRoute } from "../../../shared/routes.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { longestRequests } from "../../support/requests/longest-requests.ts";
import { Account } from "./account.ts";
import { metered } from "./metered-table.ts";
import { prices } from "./prices.ts";
import type { Report } from "./report.ts";
import { longName } from "./windows.ts";

/** What the rate limit of prod lets an account send in a day. */
const millionsADay = (6000 * 60 * 24) / 1_000_000;

const bodyOf = (route: Route, known?: Readonly<Record<string, string>>) =>
  JSON.parse(longestRequests(route, known).at(-1)?.body ?? "");

/** A lead with names of its own, which are as long. */
function anotherLead(lead: NewLead, n: number): NewLead {
  const other = (text = "") => `${String(n).padStart(2, "0")}${text.slice(4)}`;
  const addresses = Object.entries(lead.addresses ?? {}).map(([channel, [text]]) => [channel, [other(text)]]);
  return { ...lead, externalId: other(lead.externalId), addresses: Object.fromEntries(addresses) };
}

/** Sends the largest requests that the schemas allow, and reads the largest pages. */
export async function measureLargest(report: Report): Promise<void> {
  const { name } = new Account(longName, []);
  const rows: Record<string, string | number>[] = [];
  const add = async (request: string, events: number, send: () => Promise<object>) => {
    const { result, cost } = await metered(send);
    const body = "record" in result ? result.record : result;
    const kilobytes = Buffer.byteLength(JSON.stringify(body)) / 1000;
    const million =
      Math.ceil(kilobytes / 512) * prices.gateway +
      2 * prices.call +
      0.06 * prices.second +
      prices.log +
      cost.write * prices.write +
      cost.read * prices.read +
      events * prices.event +
      kilobytes * prices.transfer;
    const dollars = { "dollars a million": million, "dollars a day": Math.round(million * millionsADay) };
    rows.push({ request, W: cost.write, R: cost.read, "response (KB)": kilobytes, ...dollars });
  };
  const page = { page: 1, limit: 100 };
  const lead = bodyOf(createLeadRoute);
  const key = "x".repeat(255);
  await add("The largest lead, with `Idempotency-Key`", 1, () =>
    createLead(name, lead, idempotentRequest(name, "create-lead", key, lead)),
  );
  let leadId = "";
  for (let n = 0; n < 100; n++) leadId = (await createLead(name, anotherLead(lead, n))).record.id;
  const message = bodyOf(sendMessageRoute, { leadId });
  const keyed = idempotentRequest(name, "send-message", key, message);
  await add("The largest message, which starts a conversation, with `Idempotency-Key`", 2, () =>
    sendMessage(name, message, keyed),
  );
  await add("A page of 100 of the largest leads", 0, () => listLeads(name, {}, page));
  await add("The same page of leads of one source", 0, () => listLeads(name, { source: lead.source }, page));
  let id = "";
  for (let n = 0; n < 99; n++) id = (await sendMessage(name, message)).record.conversationId;
  const opened = { id: [id], include: "messages" as const, messageLimit: "100" };
  await add("A conversation with 100 of the largest messages", 0, () =>
    openConversations(name, opened, page),
  );
  report.section(
    "The largest requests",
    "An account that sends only these, 6,000 in 60 seconds. A function takes 50 ms for a request, the authorizer 10 ms: assumptions. API Gateway counts each 512 KB of a body as a request, and a GB to the internet costs 0.09 dollars.",
    rows,
  );
}
