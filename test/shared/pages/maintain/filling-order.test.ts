import type { GetCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { sourceOrChannelPartition } from "../../../../shared/dynamodb/keys.ts";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { fill } from "../../../../shared/pages/maintain/advance-sublist.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { MemoryTable } from "../../../support/memory-table.ts";
import { smallLimits as limits } from "../../../support/small-limits.ts";

test("filling reads the list after the sublist: a row that moved meanwhile would be past what it fills", async () => {
  const list = { account: "acme", list: countedLists.lead };
  const origin = sourceOrChannelPartition("lead", "acme", "a");
  const owner = { ...list, origin };
  const memory = new MemoryTable();
  const send = vi.spyOn(table, "send").mockImplementation(memory.send as typeof table.send);
  await commit(list, emptyRoot(1));
  await commit(owner, { ...emptyRoot(1), filling: "lead_0" });
  send.mockClear();
  expect(await fill(owner, { limits, retry: (call) => call() })).toBe(false);
  const roots = send.mock.calls.map(([command]) => (command as unknown as GetCommand).input.Key?.pk);
  expect(roots.slice(0, 2)).toEqual([treeKey(owner, "root").pk, treeKey(list, "root").pk]);
  send.mockRestore();
});
