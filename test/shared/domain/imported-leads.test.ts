import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { toEvents } from "../../../shared/domain/events.ts";
import { addLead, listLeads } from "../../../shared/domain/leads.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { useMemoryTable } from "../../support/memory-leads.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { streamRecord } from "../../support/stream-record.ts";

let table: MemoryTable;
beforeEach(() => {
  table = useMemoryTable();
});
afterEach(() => void vi.restoreAllMocks());

const id = newId("lead");
const lead = { id, name: "Ada", score: 0, status: "new", tags: [], createdAt: createdAt(id) } as const;
const imported = { ...lead, name: "Grace", tags: [] };
const created = { ...lead, tags: [] };

/** The events of the items in the table, as if they had just been written. */
const events = () =>
  toEvents([...table.items()].map((item) => ({ ...streamRecord(undefined, item), eventName: "INSERT" })));

const stored = async () => (await listLeads("acme", {}, { page: 1, limit: 20 })).data;

test("an import stores a lead once, without an event, and tells its own lead from another one", async () => {
  expect(await addLead("acme", imported, "import-1")).toBe(true);
  // A retry, after its response was lost.
  expect(await addLead("acme", imported, "import-1")).toBe(true);
  expect(await addLead("acme", created, "import-2")).toBe(false);
  expect(await addLead("acme", created)).toBe(false);
  expect(await stored()).toEqual([imported]);
  expect(events()).toEqual([]);
});

test("an import keeps a lead that a request created, with its event", async () => {
  expect(await addLead("acme", created)).toBe(true);
  expect(await addLead("acme", imported, "import-1")).toBe(false);
  expect(await stored()).toEqual([created]);
  expect(events()).toMatchObject([{ type: "lead.created", id }]);
});
