import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { Note } from "../common/unreadable.ts";
import { readMessages } from "../erasure/lead-items.ts";
import { type ArchiveLine, readLine } from "./archive-lines.ts";

/** How many conversations are read at the same time, with all of their messages in memory. */
const parallel = 8;

/**
 * Reads everything of an account that an archive has, in the order of the keys, so that two exports of the same data are the
 * same bytes: its own rate limit, erased leads, imports of leads, leads, then each conversation with its messages. How many
 * messages a conversation has, and the time of the last one, follow from these.
 *
 * @param note called with each item that an import would refuse
 */
export async function* readAccount(
  account: string,
  pace: Pace,
  note: Note,
): AsyncGenerator<readonly ArchiveLine[]> {
  for (const type of ["limit", "erasedLead", "leadImport", "lead"] as const)
    for await (const items of queryItems(inPartition(accountPartition(type, account)), pace))
      yield items.flatMap((item) => readLine(type, item, note) ?? []);
  const readConversation = async (item: Item): Promise<readonly ArchiveLine[]> => {
    const items = await readMessages(account, item.sk, pace);
    const messages = items.flatMap((message) => {
      const isOwn = message.leadId === item.leadId && message.channel === item.channel;
      if (!isOwn) note(message, "the item must be of the lead and the channel of its conversation.");
      return (isOwn && readLine("message", message, note)) || [];
    });
    const { createdAt: lastMessageAt = item.lastMessageAt } = messages.at(-1) ?? {};
    const counted = { ...item, messageCount: messages.length, lastMessageAt };
    const line = readLine("conversation", counted, note);
    if (line) return [line, ...messages];
    for (const message of items) note(message, "the item is of a conversation that is left out.");
    return [];
  };
  for await (const items of queryItems(inPartition(accountPartition("conversation", account)), pace))
    for (let from = 0; from < items.length; from += parallel)
      yield* await Promise.all(items.slice(from, from + parallel).map(readConversation));
}
