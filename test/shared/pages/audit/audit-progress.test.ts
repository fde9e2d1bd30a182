import { expect, test, vi } from "vitest";
import { auditKey } from "../../../../shared/dynamodb/keys.ts";

const now = Date.now();
const then = now - 3_600_000;
const round = (round: object) => ({ since: then, round: { beganAt: then, ...round } });

test.each([
  ["since", "a text in place of a time", { since: "x" }],
  ["since", "a future time", { since: now + 3_600_000 }],
  ["since", "the time of this run", { since: now }],
  ["round", "a future round", round({ beganAt: now })],
  ["round", "a position that no item has", round({ position: { pk: "~", sk: "~" } })],
  ["round", "a position without a sort key", round({ position: { pk: "LEAD#acme" } })],
  ["round", "a text in place of a position", round({ position: "LEAD#acme" })],
])("progress that no audit can have stored is logged with its field %s, and a new round begins: %s", async (field, _, progress) => {
  // An environment logs an invalid item once, so each case has its own environment.
  vi.resetModules();
  const { auditLists } = await import("../../../../shared/pages/audit/audit-lists.ts");
  const { putLeads } = await import("../../../support/tables/stored.ts");
  const { WatchedTable } = await import("../../../support/tables/watched-table.ts");
  const { memory } = new WatchedTable();
  putLeads(memory, "acme", 3);
  memory.put({ ...auditKey, ...progress });
  const logged = vi.spyOn(console, "error").mockReturnValue();
  expect(await auditLists(now, Date.now() + 60_000)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
  expect(logged.mock.calls).toEqual([[{ event: "invalid item", ...auditKey, field }]]);
});
