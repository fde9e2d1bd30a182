import { expect, test, vi } from "vitest";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { scanItems } from "../../../../shared/dynamodb/read-pages.ts";
import { type Item, selectTable, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { pacedMaintenance, repair } from "../../../../shared/pages/audit/repair.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { storedLead } from "../../../support/tables/stored.ts";
import { put } from "../../../support/tables/table-items.ts";

const leads = { account: "acme", list: countedLists.lead };

test("a repair by a command spends the units that its calls consume, and a write unit counts as three read units", async () => {
  for (let i = 0; i < 100; i++)
    await put(storedLead(newId("lead", Date.now() - 60_000 - i), "acme", { source: "web" }));
  selectTable(tableName, {});
  let consumed = 0;
  table.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits: number } };
      const isRead = /Get|Query/.test(context.commandName ?? "");
      for (const { CapacityUnits } of [ConsumedCapacity ?? []].flat())
        consumed += (isRead ? 1 : 3) * CapacityUnits;
      return result;
    },
    { step: "initialize", priority: "low" },
  );
  const spend = vi.spyOn(Pace.prototype, "spend");
  await repair(leads, [], pacedMaintenance(new Pace(1_000_000)));
  expect(spend.mock.calls.reduce((sum, [units]) => sum + units, 0)).toBe(consumed);
  expect((await readRoot(leads))?.entries.length).toBeGreaterThan(1);
});

test("a scan can continue after a key that no item has, in the same partition or after it", async () => {
  const scan = async (position?: Item) => {
    const pks: unknown[] = [];
    for await (const { Items = [] } of scanItems({ ProjectionExpression: "pk" }, new Pace(1e6), position))
      pks.push(...Items.map(({ pk }) => pk));
    return pks;
  };
  const all = await scan();
  const [pk] = all;
  expect(await scan({ pk, sk: " " })).toEqual(all);
  const others = all.filter((other) => other !== pk);
  expect(others.length).toBeGreaterThan(0);
  expect(await scan({ pk, sk: "~" })).toEqual(others);
});
