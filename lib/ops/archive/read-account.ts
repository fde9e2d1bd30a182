import { accountImportPrefix, accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../common/pace.ts";
import { eachItem, inPartition, queryItems } from "../common/read-items.ts";
import { readMessages } from "../erasure/lead-items.ts";
import { type AccountLine, toLine } from "./account-lines.ts";
import { inOrder } from "./in-order.ts";

/** The messages of how many conversations are read at the same time. */
const parallel = 32;

/**
 * Reads everything of an account that an export has, page by page and in the order of the keys, so that two exports of the
 * same data are the same bytes: its own rate limit, erased leads, imports of leads, leads, then each conversation before its messages.
 */
export async function* readAccount(account: string, pace: Pace): AsyncGenerator<readonly AccountLine[]> {
  for (const type of ["limit", "erasedLead", "leadImport", "lead"] as const)
    for await (const items of queryItems(inPartition(accountPartition(type, account)), pace))
      yield items.filter(({ sk }) => !String(sk).startsWith(accountImportPrefix)).map(toLine[type]);
  const conversationPages = queryItems(inPartition(accountPartition("conversation", account)), pace);
  const conversations = inOrder(eachItem(conversationPages), parallel, async (conversation) => {
    const pages = readMessages(account, String(conversation.sk), pace);
    const { value: first = [] } = await pages.next();
    return { conversation, first, pages };
  });
  for await (const { conversation, first, pages } of conversations) {
    yield [toLine.conversation(conversation), ...first.map(toLine.message)];
    for await (const more of pages) yield more.map(toLine.message);
  }
}
