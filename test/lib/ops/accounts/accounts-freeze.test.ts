import { expect, test } from "vitest";
import { readFrozenAt } from "../../../../shared/domain/frozen-accounts.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { copyTable, useTablesOfCommands } from "../../../support/memory-tables.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";
import { fillAccount, itemsOf } from "../support/full-account.ts";
import { program } from "../support/program.ts";
import { accounts } from "./support/copy.ts";

useTablesOfCommands();
const { ada } = await fillAccount("acme");
await fillAccount("other");
const noCache = ["--cache-seconds", "0"];
const freeze = (account: string) => accounts("freeze", "--account", account, ...noCache);
const unfreeze = (account: string) => accounts("unfreeze", "--account", account);

test("a freeze waits for what the cache and the longest run can still write, also again, and names its time", async () => {
  const waits = skipWaits(async () => expect(await readFrozenAt("acme")).toBeDefined());
  const first = await accounts("freeze", "--account", "acme", "--cache-seconds", "60");
  const again = await freeze("acme");
  expect(waits.lengths).toEqual([95_000, 35_000]);
  expect(first.printed).toMatch(/may still write: waiting for 95 s\.$/);
  expect(again.output).toEqual(first.output);
  const frozen = { account: "acme", frozenAt: await readFrozenAt("acme") };
  expect([first.output, first.failure]).toEqual([frozen, undefined]);
  const list = (await accounts("list")).output as { account: string; frozen?: true }[];
  expect(list.map(({ account, frozen }) => [account, frozen])).toEqual([
    ["acme", true],
    ["other", undefined],
  ]);
  expect((await unfreeze("acme")).output).toEqual({ account: "acme", frozenAt: null });
  expect([await readFrozenAt("acme"), (await unfreeze("acme")).failure]).toEqual([undefined, undefined]);
});

test("commands that write to a frozen account refuse in one sentence, and those that read go on", async () => {
  skipWaits();
  await freeze("acme");
  const before = await tableItems();
  const run = (line: string, account = "acme") =>
    program([...line.split(" "), "--account", account, "--table", tableName], { input: "x".repeat(30) });
  const since = await readFrozenAt("acme");
  const sentence = `The account acme has been frozen since ${since}: nothing was written. To let it take writes again, run \`npm run ops -- accounts unfreeze --account acme --table ${tableName}\`.\n`;
  for (const line of [
    "keys issue",
    `leads import ${await leadFile("name\nBen\n")}`,
    `leads erase --lead ${ada} --yes`,
    "accounts set-limit --requests 5",
    "channels connect --channel whatsapp --sender 106540352242922",
    "channels disconnect --channel whatsapp",
    "counts verify --repair",
    `accounts copy --from-table ${copyTable()}`,
  ])
    expect([line, await run(line)]).toEqual([line, { code: 1, stdout: "", stderr: sentence }]);
  const into = await run(`accounts copy --from-table ${copyTable()} --to-account acme`, "other");
  expect(into.stderr).toBe(sentence);
  expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
  for (const line of [`leads show --lead ${ada}`, "keys list", "accounts show-limit"])
    expect([line, (await run(line)).code]).toEqual([line, 0]);
  const from = await run(`accounts copy --from-table ${tableName} --to-account copied`);
  const revoked = await run("keys revoke --key acme --yes");
  expect([from.code, revoked.code]).toEqual([0, 0]);
  expect(await readFrozenAt("copied")).toBeUndefined();
});

test("a frozen account can be erased, and nothing is left of its freeze", async () => {
  skipWaits();
  await freeze("acme");
  const { failure } = await accounts("erase", "--account", "acme", "--yes", ...noCache);
  expect(failure).toBeUndefined();
  expect([...(await itemsOf("acme")).keys()].sort()).toEqual([
    "COUNT#acme#CONVERSATION root",
    "COUNT#acme#LEAD root",
  ]);
});
