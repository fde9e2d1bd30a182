import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { auditKey } from "../../../../shared/dynamodb/keys.ts";
import type { MemoryTable } from "../../../support/memory-table/memory-table.ts";

const hour = 3_600_000;

let memory: MemoryTable;
let audit: (now: number) => Promise<object>;
let logged: ReturnType<typeof vi.spyOn>;
/** The position at which a scan continues in place of its own position. */
let behind: { readonly pk: string; readonly sk: string } | undefined;

// An environment logs an invalid item once, so each test has its own environment.
beforeEach(async () => {
  vi.resetModules();
  const { auditLists } = await import("../../../../shared/pages/audit/audit-lists.ts");
  const { putLeads } = await import("../../../support/tables/memory-leads.ts");
  const { WatchedTable } = await import("../../../support/tables/watched-table.ts");
  const table = new WatchedTable();
  ({ memory } = table);
  table.before = (command) => {
    if (command instanceof ScanCommand)
      command.input.ExclusiveStartKey = command.input.ExclusiveStartKey && behind;
  };
  putLeads(memory, "acme", 3);
  logged = vi.spyOn(console, "error").mockReturnValue();
  behind = undefined;
  audit = (now) => auditLists(now, Date.now() + 60_000);
});

const store = (progress: object) =>
  memory.execute(new PutCommand({ TableName: "unit", Item: { ...auditKey, ...progress } }));

const now = Date.now();
const then = now - hour;
const round = (round: object) => ({ since: then, lists: 1, round: { beganAt: then, lists: 1, ...round } });

test.each([
  ["since", "a text in place of a time", { since: "x", lists: 1 }],
  ["since", "a future time", { since: now + hour, lists: 1 }],
  ["since", "the time of this run", { since: now, lists: 1 }],
  ["lists", "a last round without its number of lists", { since: then }],
  ["round", "a round without its number of lists", round({ lists: undefined })],
  ["round", "a future round", round({ beganAt: now })],
  ["round", "a position that no item has", round({ position: { pk: "~", sk: "~" } })],
  ["round", "a position without a sort key", round({ position: { pk: "LEAD#acme" } })],
  ["round", "a text in place of a position", round({ position: "LEAD#acme" })],
])("progress that no audit can have stored is logged with its field %s, and a new round begins: %s", async (field, _, progress) => {
  store(progress);
  expect(await audit(now)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
  expect(logged.mock.calls).toEqual([[{ event: "invalid item", ...auditKey, field }]]);
});

test("a round that continues after all lists and has verified none is logged, and the next run begins a new round", async () => {
  store(round({ lists: 0, position: { pk: "MESSAGE#acme#conv", sk: "msg" } }));
  behind = { pk: "LEAD#acme", sk: "~" };
  expect(await audit(now)).toEqual({ verified: 0, repaired: 0, oldest: 1 });
  expect(logged.mock.calls).toEqual([[{ event: "invalid item", ...auditKey, field: "round" }]]);
  expect(await audit(now + hour)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
});

test("a table without lists is not logged as a fault, and the next run verifies its first list", async () => {
  const leads = [...memory.items()];
  for (const lead of leads) memory.delete(lead);
  expect(await audit(now)).toEqual({ verified: 0, repaired: 0, oldest: 0 });
  for (const lead of leads) memory.put(lead);
  expect(await audit(now + hour)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
  expect(await audit(now + 2 * hour)).toEqual({ verified: 0, repaired: 0, oldest: 1 });
  expect(logged).not.toHaveBeenCalled();
});
