import { beforeEach, expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { labelTreeKey, nodeName } from "../../../../shared/dynamodb/keys.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runCommand } from "../../../support/commands/command.ts";
import { anAccount } from "../../../support/commands/lead-files.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { putLeads } from "../../../support/tables/stored.ts";

const leads = { account: "acme", list: countedLists.lead };
const webLeads = { ...leads, labelKey: "LEAD#acme#web" } as const;
const deadline = Number.POSITIVE_INFINITY;

const memory = useTablesOfCommands();
await anAccount("acme");
const empty = memory.snapshot();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  memory.restore(empty);
  skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
});

const counts = (...args: string[]) => runCommand(countsCommand(), ...args, "--account", "acme");

/** Writes counted leads. */
async function countedLeads(count: number, source: (i: number) => string = () => "web") {
  const items = putLeads(memory, "acme", count, (i) => ({ source: source(i) }));
  await maintainList(leads, [], { deadline });
  return items;
}

test("verify finds a wrong row in a list and in its source, and --repair corrects both", async () => {
  const items = await countedLeads(450, (i) => (i % 2 ? "web" : "ads"));
  expect((await counts("verify")).failure).toBeUndefined();
  memory.put({ ...items[3], status: "booked" });
  const { printed, failure } = await counts("verify");
  expect(failure).toBe(
    "The counts of the account acme differ in 2 places. If an import, a copy or an erasure has just ended, verify again in some minutes. Otherwise, run `npm run ops -- counts verify --repair --account acme --table unit`.",
  );
  const row = items[3]?.sk;
  expect(String(printed[0]).split("\n")).toEqual([
    expect.stringMatching(/^list +rows +first +source$/),
    expect.stringMatching(new RegExp(`^leads +1 +${row}$`)),
    expect.stringMatching(new RegExp(`^leads +1 +${row} +web$`)),
  ]);
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  expect((await counts("verify", "--repair")).failure).toBeUndefined();
  expect(error.mock.calls).toEqual([[expect.stringMatching(/ differ in 2 places, which are corrected\.$/)]]);
  expect(await counts("verify", "--json")).toEqual({ printed: ["[]"], failure: undefined });
});

test("verify ignores nodes of former counts and items that no maintainer writes, and --repair keeps them", async () => {
  await countedLeads(450);
  const { pk } = treeKey(leads, "");
  const tree = treeKey(webLeads, "").pk;
  const other = labelTreeKey("lead", "acme", "LEAD#acme#fair");
  const { generation = 0 } = (await readRoot(leads)) ?? {};
  const former = [1, generation - 1].flatMap((each) => [nodeName(each, 1, ""), nodeName(each, 2, "")]);
  for (const sk of [...former, "next", "group#x#root", "label#", "label#x#y", "~"]) memory.put({ pk, sk });
  memory.put({ ...other, labelKey: webLeads.labelKey });
  memory.put({ pk: tree, sk: other.sk });
  const before = [...memory.items()];
  for (const args of [["verify"], ["verify", "--repair"]])
    expect(await counts(...args, "--json")).toEqual({ printed: ["[]"], failure: undefined });
  expect([...memory.items()]).toEqual(before);
});

test("--units sets the pace", async () => {
  await countedLeads(1000);
  const start = Date.now();
  await counts("verify", "--units", "50");
  const seconds = (Date.now() - start) / 1000;
  expect(seconds).toBeGreaterThan(1);
  expect(seconds).toBeLessThan(20);
});
