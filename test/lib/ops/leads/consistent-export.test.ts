import { afterEach, expect, test, vi } from "vitest";
import { readAllLeads } from "../../../../lib/ops/leads/leads-export.ts";
import { LeadHistory } from "../../../support/history.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("an export reads every page of the table consistently", async () => {
  const history = new LeadHistory();
  history.addMany(15000);
  const ids: string[] = [];
  const { calls } = await history.table.watch(async () => {
    for await (const page of readAllLeads(history.account, {})) ids.push(...page.map(({ id }) => id));
  });
  expect(ids).toEqual([...history.rows.keys()].sort().reverse());
  expect(calls.length).toBeGreaterThan(2);
  for (const { input } of calls) {
    expect(input.ConsistentRead).toBe(true);
    expect(input).not.toHaveProperty("IndexName");
  }
});
