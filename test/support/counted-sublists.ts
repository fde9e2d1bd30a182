import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { conversationItem } from "../../shared/domain/conversations.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { type Item, tableName } from "../../shared/dynamodb/table-client.ts";
import type { MemoryTable } from "./memory-table.ts";
import { newUlid } from "./new-ulid.ts";

const createdAt = "2026-01-01T00:00:00.000Z";

/** Writes leads of sources, a second apart. @param start the time of the first one @returns their items */
export function putSourcedLeads(
  memory: MemoryTable,
  account: string,
  count: number,
  of: (i: number) => { readonly source?: string; readonly status?: "new" | "qualified" | "booked" },
  start = Date.now() - 10_000_000,
) {
  return put(memory, count, start, (id, i) =>
    leadItem(account, {
      id: `lead_${id}`,
      name: "x",
      score: 0,
      status: "new",
      tags: [],
      createdAt,
      ...of(i),
    }),
  );
}

/** Writes conversations of leads, a second apart. @returns their items */
export function putConversations(
  memory: MemoryTable,
  account: string,
  count: number,
  of: (i: number) => { readonly leadId: string; readonly channel: string; readonly status: string },
  start = Date.now() - 10_000_000,
) {
  return put(memory, count, start, (id, i) =>
    conversationItem(account, {
      id: `conv_${id}`,
      lastMessageAt: createdAt,
      messageCount: 1,
      ...of(i),
    }),
  );
}

function put<T extends Item>(
  memory: MemoryTable,
  count: number,
  start: number,
  toItem: (id: string, i: number) => T,
): T[] {
  const items = Array.from({ length: count }, (_, i) => toItem(newUlid(start + i * 1000), i));
  for (const Item of items) memory.execute(new PutCommand({ TableName: tableName, Item }));
  return items;
}
