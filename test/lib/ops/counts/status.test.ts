import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "../../../../lib/ops/common/pace.ts";
import { readStatus } from "../../../../lib/ops/counts/counts-status-command.ts";
import { repairSublists } from "../../../../lib/ops/counts/repair-sublists.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { forgetTails } from "../../../../shared/pages/read/tail.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { putConversations, putSourcedLeads } from "../../../support/counted-sublists.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import type { MemoryTable } from "../../../support/memory-table.ts";

const pace = new Pace(1_000_000, async () => {});
const options = { wait: async () => {}, pace };
const deadline = Number.POSITIVE_INFINITY;

let memory: MemoryTable;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  memory = useMemoryTable();
  forgetTails();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("status shows the sublists with trees", async () => {
  const owner = { account: "acme", list: countedLists.lead };
  putSourcedLeads(memory, "acme", 3000, (i) => ({
    source: i % 50 === 0 ? "short" : i % 3 === 0 ? "web # 1" : "ads",
  }));
  await maintain(owner, [], { deadline });
  await repairSublists(owner, options);
  const { sublists } = await readStatus(owner, pace);
  expect(sublists.map(({ index, of, counted, tail }) => [index, of, counted + tail])).toEqual([
    ["by-origin", "ads", 1960],
    ["by-origin", "web # 1", 980],
  ]);
});

test("a status that was refused is a full dictionary", async () => {
  const owner = { account: "acme", list: countedLists.conversation };
  const statuses = ["active", "a", "b", "c", "c", "c"];
  putConversations(memory, "acme", 1200, (i) => ({
    leadId: `lead_${i}`,
    channel: "sms",
    status: statuses[i % 6] ?? "",
  }));
  await maintain(owner, [], { deadline });
  const { full } = await readStatus(owner, pace);
  expect(full).toEqual(["statuses"]);
});
