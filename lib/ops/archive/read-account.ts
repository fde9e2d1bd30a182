import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryAll, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { inPartition } from "../common/read-items.ts";
import { messagesOf } from "../erasure/lead-items.ts";
import { type ArchiveLine, type LineType, lineId, toLine } from "./archive-lines.ts";
import { describeFault, type RowFault, rowFault } from "./row.ts";

/** How many conversations are read at the same time, with all of their messages in memory. */
const parallel = 8;

/** Called with a sentence about each item that an import would refuse. */
type OnUnreadable = (sentence: string) => void;

/**
 * Reads everything of an account that an archive has, in the order of the keys, so that two exports of the same data are the
 * same bytes: its own rate limit, erased leads, imports of leads, leads, then each conversation with its messages. How many
 * messages a conversation has, and the time of the last one, follow from these.
 */
export async function* readAccount(
  account: string,
  pace: Pace,
  onUnreadable: OnUnreadable,
): AsyncGenerator<readonly ArchiveLine[]> {
  const now = Date.now();
  const read = (type: LineType, items: readonly Item[], conversation?: Item) =>
    items.flatMap((item) => {
      const line = toLine(type, item, now);
      const fault = "fault" in line ? line.fault : placeFault(line, item, conversation);
      if (fault) onUnreadable(`${JSON.stringify([item.pk, item.sk])}: ${describeFault(fault, "the item")}`);
      return fault ? [] : [line as ArchiveLine];
    });
  for (const type of ["limit", "erasedLead", "leadImport", "lead"] as const)
    for await (const items of queryItems(inPartition(accountPartition(type, account)), pace))
      yield read(type, items);
  const readConversation = async (item: Item): Promise<readonly ArchiveLine[]> => {
    const messages = read("message", await queryAll(messagesOf(account, String(item.sk)), pace), item);
    const last = messages.at(-1) as { readonly createdAt?: string } | undefined;
    const counted = {
      ...item,
      messageCount: messages.length,
      lastMessageAt: last?.createdAt ?? item.lastMessageAt,
    };
    const lines = read("conversation", [counted]);
    return lines.length > 0 ? [...lines, ...messages] : [];
  };
  for await (const items of queryItems(inPartition(accountPartition("conversation", account)), pace))
    for (let from = 0; from < items.length; from += parallel)
      yield* await Promise.all(items.slice(from, from + parallel).map(readConversation));
}

/** The fault of an item that is stored under another key than its own, or with the messages of another conversation. */
function placeFault(line: ArchiveLine, { sk }: Item, conversation: Item | undefined): RowFault | undefined {
  if (line.type === "message" && conversation) {
    const { sk: conversationId, leadId, channel } = conversation;
    if (line.conversationId !== conversationId || line.leadId !== leadId || line.channel !== channel)
      return rowFault("", "not_allowed", "must be of the lead and the channel of its conversation");
  }
  return line.type === "limit" || lineId(line) === sk
    ? undefined
    : rowFault("", "not_allowed", "must be stored under its own id");
}
