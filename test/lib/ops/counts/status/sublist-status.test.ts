import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "../../../../../lib/ops/common/pace.ts";
import { repairSublists } from "../../../../../lib/ops/counts/rebuild/repair-sublists.ts";
import { readStatus } from "../../../../../lib/ops/counts/status/status.ts";
import { listConversations } from "../../../../../shared/domain/conversations.ts";
import { listLeads } from "../../../../../shared/domain/leads.ts";
import { maintain } from "../../../../../shared/pages/maintenance/maintain.ts";
import { forgetTails } from "../../../../../shared/pages/tail.ts";
import { countedLists } from "../../../../../shared/pages/tree/counted-list.ts";
import { putConversations, putSourcedLeads } from "../../../../support/counted-sublists.ts";
import { useMemoryTable } from "../../../../support/memory-leads.ts";
import type { MemoryTable } from "../../../../support/memory-table.ts";

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

/** The most units of some pages of a list. */
async function dearestPage(total: number, list: (page: number) => Promise<unknown>) {
  let most = 0;
  for (let page = 1; page <= total / 20 + 1; page++) {
    let units = 0;
    const execute = memory.execute.bind(memory);
    const spy = vi.spyOn(memory, "execute").mockImplementation((command) => {
      const response = execute(command);
      for (const read of response.reads) units += read.units;
      return response;
    });
    await list(page);
    spy.mockRestore();
    most = Math.max(most, units);
  }
  return most;
}

test("status shows the sublists with trees, and no page costs more than its estimate", async () => {
  const owner = { account: "acme", list: countedLists.lead };
  putSourcedLeads(memory, "acme", 3000, (i) => ({
    source: i % 50 === 0 ? "short" : i % 3 === 0 ? "web # 1" : "ads",
  }));
  await maintain(owner, [], { deadline });
  await repairSublists(owner, options);
  const { sublists, dearest, counted } = await readStatus(owner, pace);
  expect(sublists.map(({ index, of, counted, tail }) => [index, of, counted + tail])).toEqual([
    ["by-origin", "ads", 1960],
    ["by-origin", "web # 1", 980],
  ]);
  const costs = [await dearestPage(counted, (page) => listLeads("acme", {}, { page, limit: 20 }))];
  for (const { of, units, why } of sublists) {
    const cost = await dearestPage(1960, (page) => listLeads("acme", { source: of }, { page, limit: 20 }));
    expect(cost).toBeLessThanOrEqual(units);
    expect(why).toMatch(/^1 root/);
    costs.push(cost);
  }
  expect(dearest.units).toBeGreaterThanOrEqual(Math.max(...costs));
  expect(dearest.list).toBe("all leads");
});

test("a lead's groups are in its estimate", async () => {
  const owner = { account: "acme", list: countedLists.conversation };
  putConversations(memory, "acme", 1000, (i) => ({
    leadId: "lead_a",
    channel: i < 450 || (i > 940 && i < 951) ? "c1" : "c2",
    status: "active",
  }));
  await maintain(owner, [], { deadline });
  await repairSublists(owner, options);
  const { sublists } = await readStatus(owner, pace);
  const lead = sublists.find(({ index }) => index === "by-parent");
  expect(lead).toMatchObject({ of: "lead_a", levels: 1 });
  const filter = { leadId: "lead_a", status: "active", channel: "c1" };
  const cost = await dearestPage(459, (page) => listConversations("acme", filter, { page, limit: 20 }));
  expect(cost).toBeLessThanOrEqual(lead?.units ?? 0);
});

test("a status that was refused makes a list the dearest", async () => {
  const owner = { account: "acme", list: countedLists.conversation };
  const statuses = ["active", "a", "b", "c", "c", "c"];
  putConversations(memory, "acme", 1200, (i) => ({
    leadId: `lead_${i}`,
    channel: "sms",
    status: statuses[i % 6] ?? "",
  }));
  await maintain(owner, [], { deadline });
  const { dearest, full } = await readStatus(owner, pace);
  expect(full).toEqual(["statuses"]);
  expect(dearest).toMatchObject({
    list: "all conversations",
    why: expect.stringContaining("600 rows with a status"),
  });
});
