import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { nodePrefix } from "../../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** An account whose tree has lost its nodes, as one that is replaced during every attempt of a list to read it. */
async function historyWithoutNodes(): Promise<LeadHistory> {
  const history = new LeadHistory();
  history.addMany(64, { age: 60_000 });
  await history.deliver(smallLimits);
  history.advance(100_000);
  const { memory } = history.table;
  const nodes = [...memory.items()].filter(({ sk }) => String(sk).startsWith(nodePrefix));
  expect(nodes.length).toBeGreaterThan(1);
  for (const { pk, sk } of nodes)
    memory.execute(new DeleteCommand({ TableName: tableName, Key: { pk, sk } }));
  return history;
}

test.each([
  [0, 64],
  [20, 64],
  [0, 40],
  [20, 40],
  [63, 64],
])("every page of the leads from %i to before %i is exact, although no node can be read", async (from, to) => {
  const history = await historyWithoutNodes();
  const leads = [...history.leads.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const window = {
    ...(from > 0 && { createdAfter: leads[from]?.createdAt }),
    ...(to < 64 && { createdBefore: leads[to]?.createdAt }),
  };
  const rows = leads.slice(from, to).reverse();
  for (let page = 1; page <= 14; page++) {
    const { data, pagination } = await history.list(window, { page, limit: 5 });
    expect(pagination.total).toBe(to - from);
    expect(data).toEqual(rows.slice((page - 1) * 5, page * 5));
  }
});
