import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { leadItem } from "../../../shared/domain/leads.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../shared/pages/maintain/maintain.ts";
import { maintainSublist } from "../../../shared/pages/maintain/maintain-sublist.ts";
import { countedPage } from "../../../shared/pages/read/counted-page.ts";
import { filteredRange } from "../../../shared/pages/read/counted-range.ts";
import { countedLists, type SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { type Lead, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { useMemoryTable } from "../../support/memory-leads.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { listFilters } from "./list-rows.ts";
import { readPages } from "./read-pages.ts";
import { SyntheticRows } from "./rows.ts";
import { type Plan, simulate } from "./simulation.ts";

afterEach(() => vi.restoreAllMocks());

const mix = new Map([
  [0, 80],
  [1, 15],
  [2, 5],
]);

const statuses = { names: leadStatuses, full: false };

const wholeList = (arrivals: Plan["arrivals"]): Plan => ({
  ...{ kind: "whole list", rows: 100_000, arrivals, mix, statuses },
});

/** A maintainer sets each row of a sublist by its key: smaller nodes make as many levels of fewer rows. */
const smallNodes = {
  ...limits,
  ...{ nodeBytes: 475, keptBytes: 425, rowNodeBytes: 475, keptRowBytes: 425, sublistRootBytes: 800 },
  sublistCommitRows: 60,
};

const oneSource = (arrivals: Plan["arrivals"]): Plan => ({
  ...{ kind: "source", rows: 4000, arrivals, mix, statuses, limits: smallNodes },
});

test.each([
  wholeList("evenly"),
  wholeList("in bursts"),
  oneSource("evenly"),
  oneSource("in bursts"),
])("a simulated tree is what the maintainer builds: $kind, $arrivals", async (plan) => {
  const simulation = await simulate(plan);
  const { list, rows, shape } = simulation;
  await readPages(simulation, 10);
  const memory = useMemoryTable();
  await storeRows(memory, plan, list.account);
  const { tree } = filteredRange(list.account, countedLists.lead, { sourceOrChannel: list.source });
  const means = { deadline: Number.POSITIVE_INFINITY, limits: plan.limits ?? limits };
  if (plan.kind === "whole list") await maintain(tree, [], means);
  else await maintainSublist(tree as SublistOwner, { changed: [], look: true }, means);
  const root = await readRoot(tree);
  expect(root?.level).toBe(shape.levels.length);
  const nodes = [...memory.items()].filter(({ sk }) => String(sk).startsWith("node#")).length;
  const simulatedNodes = shape.levels.reduce((sum, level) => sum + level.nodes, 0);
  expect(Math.abs(nodes - simulatedNodes) / simulatedNodes).toBeLessThan(0.05);
  expect(Math.abs((root?.entries.length ?? 0) - shape.rootEntries)).toBeLessThanOrEqual(1);
  for (const filter of listFilters(list)) {
    const counted = filteredRange(list.account, countedLists.lead, filter);
    const total = rows.total(counted.range.partition);
    for (const page of [1, 2, 17, Math.ceil(total / 40), Math.ceil(total / 20)]) {
      const request = { page, limit: 20 };
      const found = await countedPage(counted, request, ({ sk }) => String(sk));
      const expected = rows.page(counted.range.partition, page, request.limit);
      expect(found).toEqual({ data: expected, pagination: { ...request, total } });
    }
  }
});

async function storeRows(memory: MemoryTable, plan: Plan, account: string): Promise<void> {
  const rows = new SyntheticRows(plan.rows, plan);
  const others = { source: "website", name: "x", score: 0, tags: [], createdAt: "2026-01-01T00:00:00.000Z" };
  for (let index = 0; index < rows.size; index++) {
    const status = leadStatuses[rows.cell(index)] as Lead["status"];
    const Item = leadItem(account, { id: rows.key(index), status, ...others });
    await memory.send(new PutCommand({ TableName: tableName, Item }));
  }
}
