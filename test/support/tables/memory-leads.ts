import { leadItem } from "../../../shared/domain/leads.ts";
import { newId } from "../../../shared/ids.ts";
import type { MemoryTable } from "../memory-table/memory-table.ts";

/**
 * Writes leads, a second apart.
 *
 * @param of the fields that a test sets in the i-th lead
 * @param start the creation time of the first lead
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
