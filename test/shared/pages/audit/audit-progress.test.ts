import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { auditKey } from "../../../../shared/dynamodb/keys.ts";
import type { MemoryTable } from "../../../support/memory-table/memory-table.ts";

const hour = 3_600_000;

let memory: MemoryTable;
let audit: (now: number) => Promise<object>;
let logged: ReturnType<typeof vi.spyOn>;

// An environment logs an invalid item once, so each test has its own environment.
beforeEach(async () => {
  vi.resetModules();
  const { auditLists } = await import("../../../../shared/pages/audit/audit-lists.ts");
  const { putLeads } = await import("../../../support/tables/memory-leads.ts");
  const { WatchedTable } = await import("../../../support/tables/watched-table.ts");
  ({ memory } = new WatchedTable());
  putLeads(memory, "acme", 3);
  logged = vi.spyOn(console, "error").mockReturnValue();
  audit = (now) => auditLists(now, Date.now() + 60_000);
});

const store = (progress: object) =>
  memory.execute(new PutCommand({ TableName: "unit", Item: { ...auditKey, ...progress } }));

const now = Date.now();
const then = now - hour;
const round = (round: object) => ({ since: then, round: { beganAt: then, ...round } });

test.each([
  ["since", "a text in place of a time", { since: "x" }],
  ["since", "a future time", { since: now + hour }],
  ["since", "the time of this run", { since: now }],
  ["round", "a future round", round({ beganAt: now })],
  ["round", "a position that no item has", round({ position: { pk: "~", sk: "~" } })],
  ["round", "a position without a sort key", round({ position: { pk: "LEAD#acme" } })],
  ["round", "a text in place of a position", round({ position: "LEAD#acme" })],
])("progress that no audit can have stored is logged with its field %s, and a new round begins: %s", async (field, _, progress) => {
  store(progress);
  expect(await audit(now)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
  expect(logged.mock.calls).toEqual([[{ event: "invalid item", ...auditKey, field }]]);
});
