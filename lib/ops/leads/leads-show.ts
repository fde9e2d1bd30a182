import type { Command } from "commander";
import { toConversation } from "../../../shared/domain/conversations.ts";
import { toLead } from "../../../shared/domain/leads.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { message as messageSchema } from "../../../shared/schemas/conversation-schemas.ts";
import { toRecord } from "../../../shared/schemas/record.ts";
import { type PacedAccountOptions, pacedCommand, selectPacedTable } from "../common/options.ts";
import { messagesOf, readLeadConversations } from "../erasure/lead-items.ts";
import { findLeads, type PersonOptions, unknownPerson, withPerson } from "./person-option.ts";

type ShowOptions = PacedAccountOptions & PersonOptions;

/** `leads show`: everything that is stored of a person, for a request for access. */
export const showCommand = (): Command =>
  withPerson(pacedCommand("show", "show a lead with its conversations and messages")).action(show);

async function show(options: ShowOptions): Promise<void> {
  const pace = await selectPacedTable(options);
  const { account, json } = options;
  const items = await findLeads(account, options, pace);
  if (items.length === 0) throw await unknownPerson(options, pace);
  const leads: Awaited<ReturnType<typeof readLead>>[] = [];
  for (const item of items) leads.push(await readLead(account, item, pace));
  if (json) return console.log(JSON.stringify({ account, leads }));
  for (const lead of leads) console.log(describe(lead));
}

/** Reads everything that is stored of a lead. */
async function readLead(account: string, item: Item, pace: Pace) {
  const lead = toLead(item);
  const conversations = [];
  for (const stored of await readLeadConversations(account, lead.id, pace)) {
    const conversation = toConversation(stored);
    const items = await queryAll(messagesOf(account, conversation.id), pace);
    conversations.push({ ...conversation, messages: items.map((item) => toRecord(messageSchema, item)) });
  }
  return { lead, conversations };
}

/** A text with a line for each field and each message. */
function describe({ lead, conversations }: Awaited<ReturnType<typeof readLead>>): string {
  const lines = Object.entries(lead).map(([name, value]) => `${name}: ${format(value)}`);
  for (const { id, channel, status, messages } of conversations) {
    lines.push("", `Conversation ${id} on ${channel}, ${status}:`);
    for (const { createdAt, message } of messages) lines.push(`  ${createdAt}  ${JSON.stringify(message)}`);
  }
  return `${lines.join("\n")}\n`;
}

const format = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value));
