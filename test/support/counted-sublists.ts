import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { conversationItem } from "../../shared/domain/conversations.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { type Item, tableName } from "../../shared/dynamodb/table-client.ts";
import { newId } from "../../shared/ids.ts";
import type { MemoryTable } from "./memory-table.ts";

const createdAt = "2026-01-01T00:00:00.000Z";

/** Writes leads of sources, a second apart. @param start the time of the first one @returns their items */
export function putSourcedLeads(
  memory: MemoryTable,
  account: string,
  count: number,
  of: (i: number) => { readonly source?: string; readonly status?: "new" | "qualified" | "booked" },
  start = Date.now() - 10_000_000,
) {
  return put(memory, count, start, (at, i) =>
    leadItem(account, {
      id: newId("lead", at),
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
  return put(memory, count, start, (at, i) =>
    conversationItem(account, {
      id: newId("conv", at),
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
  toItem: (at: number, i: number) => T,
): T[] {
  const items = Array.from({ length: count }, (_, i) => toItem(start + i * 1000, i));
  for (const Item of items) memory.execute(new PutCommand({ TableName: tableName, Item }));
  return items;
}
