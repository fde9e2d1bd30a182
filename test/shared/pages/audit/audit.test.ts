import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { sublistKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { repair } from "../../../../shared/pages/audit/repair.ts";
import { verify } from "../../../../shared/pages/audit/verify.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { type CountedOwner, countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, encodeEntries, rowEntry } from "../../../../shared/pages/tree/entry.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { putSourcedLeads } from "../../../support/counted-sublists.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import type { MemoryTable } from "../../../support/memory-table.ts";
import { smallLimits } from "../../../support/small-limits.ts";

const leads: CountedOwner = { account: "acme", list: countedLists.lead };
const web = { index: "by-origin", partition: "LEAD#acme#web" } as const;
const webLeads = { ...leads, sublist: web };
const deadline = Number.POSITIVE_INFINITY;

afterEach(() => vi.restoreAllMocks());

const put = (memory: MemoryTable, Item: Item) =>
  memory.execute(new PutCommand({ TableName: tableName, Item: { ...Item } }));

const remove = (memory: MemoryTable, { pk, sk }: Item) =>
  memory.execute(new DeleteCommand({ TableName: tableName, Key: { pk, sk } }));

/** Writes 300 counted leads of two sources. */
async function countedLeads() {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const memory = useMemoryTable();
  const items = putSourcedLeads(memory, "acme", 300, (i) => ({ source: i % 3 ? "web" : "fair" }));
  await maintainList(leads, [], { deadline, limits: smallLimits });
  return { memory, items };
}

/** Verifies without waiting. */
async function check(during: (look: number) => unknown = () => {}) {
  let units = 0;
  const waits: number[] = [];
  const pace = {
    retry: <T>(call: () => Promise<T>) => call(),
    spend: async (used: number) => {
      units += used;
    },
  };
  const findings = await verify(leads, { pace, wait: async (time) => during(waits.push(time)) });
  return { findings, waits, units };
}

test("correct", async () => {
  const { items } = await countedLeads();
  const root = await readRoot(leads);
  console.log(root?.level, root?.watermark, root?.fed, items.length);
  console.log(await readRoot(webLeads));
  console.log(await check());
});
