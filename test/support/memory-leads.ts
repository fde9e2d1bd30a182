import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import { leadItem } from "../../shared/domain/leads.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { newId } from "../../shared/ids.ts";
import { MemoryTable } from "./memory-table.ts";

type Send = (command: object) => Promise<Record<string, unknown>>;

/** Makes the product work on a new table in memory. @param around runs instead of each call */
export function useMemoryTable(
  around: (command: object, send: Send) => Promise<unknown> = (it, send) => send(it),
) {
  const memory = new MemoryTable();
  const send = (command: object) => around(command, memory.send);
  vi.spyOn(table, "send").mockImplementation(send as unknown as typeof table.send);
  return memory;
}

/** Writes leads, a millisecond apart. @param age of the first one, in milliseconds @returns their items */
export async function putLeads(memory: MemoryTable, account: string, count: number, age = 600_000) {
  const items = Array.from({ length: count }, (_, i) => {
    const id = newId("lead", Date.now() - age + i);
    const createdAt = "2026-01-01T00:00:00.000Z";
    return leadItem(account, { id, name: "x", score: 0, status: "new", tags: [], createdAt });
  });
  for (const Item of items) await memory.send(new PutCommand({ TableName: tableName, Item }));
  return items;
}
