import { readInbox } from "/inbox/recipes.ts";
import { client } from "/inbox/requests.js";

/** Reads the first pages of a list of conversations, with their leads. */
export async function readConversations(query, pages) {
  const list = { rows: [], total: 1 };
  for (let page = 1; page <= pages && list.rows.length < list.total; page += 1) {
    const found = await readInbox(client, { ...query, page, limit: 100 });
    list.rows.push(...found.rows);
    list.total = found.total;
  }
  return list;
}

/** Reads a conversation with so many of its newest messages, the oldest of them first; undefined if there is none. */
export async function readOpened(id, count) {
  const [conversation] = (await readInbox(client, { id: [id] })).rows;
  const messages = [];
  for await (const message of client.messages(id)) {
    messages.unshift(message);
    if (messages.length === count) break;
  }
  return conversation && { ...conversation, messages };
}
