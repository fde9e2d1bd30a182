import { openConversations } from "../../../shared/domain/conversations/conversations.ts";
import { sendMessage } from "../../../shared/domain/conversations/messages.ts";
import { createLead } from "../../../shared/domain/create-lead.ts";
import { idempotentRequest } from "../../../shared/domain/idempotent-replay.ts";
import { listLeads } from "../../../shared/domain/leads.ts";
import { createLeadRoute, type Route, sendMessageRoute } from "../../../shared/routes.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { longestBody } from "../../support/requests/longest-body.ts";
import type { Cells } from "../report.ts";
import { Account } from "./account.ts";
import { longName } from "./conversations.ts";
import { metered } from "./metered-table.ts";
import { price } from "./prices.ts";

/** The requests that the rate limit of prod allows an account in a day. */
const millionsADay = (6000 * 60 * 24) / 1_000_000;

const bodyOf = (route: Route, known?: Readonly<Record<string, string>>) =>
  JSON.parse(longestBody(route, known));

/** A lead whose names differ from all others and are as long. */
function anotherLead(lead: NewLead, n: number): NewLead {
  const other = (text = "") => `${String(n).padStart(2, "0")}${text.slice(4)}`;
  const addresses = Object.entries(lead.addresses ?? {}).map(([channel, [text]]) => [channel, [other(text)]]);
  return { ...lead, externalId: other(lead.externalId), addresses: Object.fromEntries(addresses) };
}

/** Sends the largest requests that the schemas allow, and reads the largest pages. */
export async function measureLargest() {
  const { name } = new Account(longName, []);
  const rows: Cells[] = [];
  const add = async (request: string, events: number, send: () => Promise<object>) => {
    const { result, cost } = await metered(send);
    const kilobytes = Buffer.byteLength(JSON.stringify("record" in result ? result.record : result)) / 1000;
    const million = price(cost, events, 2, 0.06, kilobytes);
    const dollars = { "dollars a million": million, "dollars a day": Math.round(million * millionsADay) };
    rows.push({ request, W: cost.W, R: cost.R, "response (KB)": kilobytes, ...dollars });
  };
  const lead = bodyOf(createLeadRoute);
  const keyed = idempotentRequest(name, "create-lead", "x".repeat(255), lead);
  await add("The largest lead, with `Idempotency-Key`", 1, () => createLead(name, lead, keyed));
  let leadId = "";
  for (let n = 0; n < 100; n++) leadId = (await createLead(name, anotherLead(lead, n))).record.id;
  await add("A page of 100 of the largest leads", 0, () => listLeads(name, { limit: "100" }));
  const message = bodyOf(sendMessageRoute, { leadId });
  let id = "";
  for (let n = 0; n < 100; n++) id = (await sendMessage(name, message)).record.conversationId;
  const opened = { id: [id], include: "messages" as const, messageLimit: "100" };
  await add("A conversation with 100 of the largest messages", 0, () => openConversations(name, opened));
  return rows;
}
