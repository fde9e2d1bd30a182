import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { onTable, type Printed, type Tools } from "../command/action.ts";
import { command } from "../command/command.ts";
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
  const failure = await unknownPerson(options, pace, known);
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
