import type { DynamoDBRecord } from "aws-lambda";
import { vi } from "vitest";
import { leadItem } from "../../../shared/domain/leads.ts";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { MemoryTable } from "../memory-table/memory-table.ts";
import { streamRecord } from "./stream-record.ts";

type Send = (command: object) => Promise<Record<string, unknown>>;

/**
 * Makes the product work on a new table in memory.
 *
 * @param around runs instead of each call
 * @param stream gets the record of each change
 */
export function useMemoryTable(
  around: (command: object, send: Send) => Promise<unknown> = (it, send) => send(it),
  stream: DynamoDBRecord[] = [],
) {
  const memory = new MemoryTable({
    onChange: ({ before, after }) => void stream.push(streamRecord(before, after)),
  });
  const send = (command: object) => around(command, memory.send);
  vi.spyOn(table, "send").mockImplementation(send as unknown as typeof table.send);
  return memory;
}

/**
 * Writes leads, a second apart.
 *
 * @param of the fields that a test sets of the i-th one
 * @param start the time of the first one
 * @returns their items
 */
export function putLeads(
  memory: MemoryTable,
  account: string,
  count: number,
  of: (i: number) => {
    readonly source?: string;
    readonly status?: "new" | "qualified" | "booked";
  } = () => ({}),
  start = Date.now() - 10_000_000,
) {
  const createdAt = "2026-01-01T00:00:00.000Z";
  const items = Array.from({ length: count }, (_, i) => {
    const lead = { id: newId("lead", start + i * 1000), name: "x", score: 0, tags: [], createdAt };
    return leadItem(account, { ...lead, status: "new", ...of(i) });
  });
  for (const item of items) memory.put(item);
  return items;
}
