import { conversationKey, erasedLeadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { onTable, type Printed, type Tools } from "../command/action.ts";
import { command, opsCommand } from "../command/command.ts";
import { ItemsToErase } from "../erasure/items-to-erase.ts";
import { findConversations, readEach, readMessageItems } from "../table/read-items.ts";
import { readStored } from "../table/valid-records.ts";
import { findLeads, type PersonOptions, unknownPerson, withPerson } from "./person-option.ts";

/** `leads show`: everything that is stored about a person, for a request for access. */
export const showCommand = () =>
  withPerson(
    command("show", "show a lead with its conversations and messages, as JSON", { paced: true }),
  ).action(onTable(show));

async function show(options: PersonOptions, tools: Tools): Promise<Printed> {
  const { account } = options;
  const { pace, invalid } = tools;
  const items = await findLeads(options, tools);
  const known = new Set(items.map(({ sk }) => String(sk)));
  const failure = await notFound(options, pace, known);
  if (items.length === 0) {
    // The named person may be among the leads that cannot be read.
    invalid.print();
    return { failure };
  }
  const leads = [];
  for (const item of items) leads.push(await readLead(account, item, tools));
  const json = { account, leads, invalid: [...invalid.values()] };
  return { json, text: JSON.stringify(json, null, 2), failure };
}

/** The error for a person who is not found. Messages of a lead remain until its erasure has ended, so it names such leads. */
async function notFound(options: PersonOptions, pace: Pace, known: ReadonlySet<string>) {
  const { account, lead = [] } = options;
  const error = await unknownPerson(options, pace, known);
  const keys = lead.filter((id) => !known.has(id)).map((id) => erasedLeadKey(account, id));
  const pending = (await readEach(keys, pace)).filter((erasure) => erasure.pending).map(({ sk }) => sk);
  if (!error || pending.length === 0) return error;
  const line = `leads erase --account ${account} --lead ${pending.join(" ")}`;
  const whose = lead.length === 1 ? "Its erasure" : `The erasure of ${pending.join(", ")}`;
  return new UserError(`${error.message} ${whose} has not ended: run ${opsCommand(options, line)}.`);
}

/** Reads all items whose own fields make them part of a lead. Of an invalid lead or conversation, only the id is shown. */
async function readLead(account: string, item: Item, { pace, invalid }: Tools) {
  const id = String(item.sk);
  const lead = readStored("lead", item, invalid) ?? { id };
  const found = new ItemsToErase({ account, leads: new Set([id]) }, invalid);
  const conversations = [];
  const { ids } = await findConversations(account, id, pace);
  const keys = ids.map((id) => conversationKey(account, id));
  const own = new Map(found.take(await readEach(keys, pace)).map((stored) => [stored.sk, stored]));
  for (const key of keys) {
    const stored = own.get(key.sk);
    const messages = found.take(await readMessageItems(account, key.sk, pace));
    if (!stored && messages.length === 0) continue;
    if (!stored) invalid.note(key, "it has messages of a lead that it does not name");
    const conversation = (stored && readStored("conversation", stored, invalid)) ?? { id: key.sk };
    conversations.push({
      ...conversation,
      messages: messages.flatMap((message) => readStored("message", message, invalid) ?? []),
    });
  }
  return { lead, conversations };
}
