import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { leadItem } from "../../shared/domain/leads.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { newId } from "../../shared/ids.ts";
import type { MemoryTable } from "./memory-table.ts";

/** Writes leads of sources, a second apart. @param start the time of the first one @returns their items */
export function putSourcedLeads(
  memory: MemoryTable,
  account: string,
  count: number,
  of: (i: number) => { readonly source?: string; readonly status?: "new" | "qualified" | "booked" },
  start = Date.now() - 10_000_000,
) {
  const createdAt = "2026-01-01T00:00:00.000Z";
  const items = Array.from({ length: count }, (_, i) => {
    const lead = { id: newId("lead", start + i * 1000), name: "x", score: 0, tags: [], createdAt };
    return leadItem(account, { ...lead, status: "new", ...of(i) });
  });
  for (const Item of items) memory.execute(new PutCommand({ TableName: tableName, Item }));
  return items;
}
