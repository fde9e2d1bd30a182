import { expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { channelsCommand } from "../../../lib/ops/channels/channels-command.ts";
import { countsCommand } from "../../../lib/ops/counts/counts-command.ts";
import { keysCommand } from "../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";
import { readFrozenAt } from "../../../shared/domain/accounts.ts";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { leadFile } from "../../support/commands/lead-files.ts";
import { copyTable, tagTable, useTablesOfCommands } from "../../support/tables/memory-tables.ts";
import { tableItems } from "../../support/tables/table-items.ts";
import { fillAccount } from "./support/full-account.ts";
import { program } from "./support/program.ts";

const memory = useTablesOfCommands();
skipWaits();
const { ada } = await fillAccount("acme");
await fillAccount("other");

/** Runs a command on an account. What it reads from stdin is long enough for a token. */
const ops = (line: string, account = "acme") =>
  program([...line.split(" "), "--account", account, "--table", tableName], { input: "x".repeat(30) });

const from = copyTable();
const { importId } = [...memory.items()].find(({ pk }) => pk === "IMPORT#acme") ?? {};

/** Every command that writes, with what it needs; each would write, or fail for another reason. */
const writing = [
  "keys issue",
  `leads import ${await leadFile("name\nBen\n")}`,
  `leads erase --lead ${ada} --yes`,
  "counts verify --repair",
  "accounts set-limit --requests 5",
  `accounts copy --from-table ${from}`,
  "channels connect --channel whatsapp --sender 106540352242922",
  "channels disconnect --channel whatsapp",
];

/** Those that also write to a frozen account. */
const always = [
  "keys revoke --key acme --yes",
  "accounts erase --yes --cache-seconds 0",
  "accounts freeze --cache-seconds 0",
  "accounts unfreeze",
];

test("these lists have every command that declares that it writes", () => {
  const groups = [keysCommand, leadsCommand, countsCommand, accountsCommand, channelsCommand];
  const declared = (writes: unknown) =>
    groups.flatMap((group) =>
      group()
        .commands.filter((command) => command.getOptionValue("writes") === writes)
        .map((command) => `${group().name()} ${command.name()}`),
    );
  const named = (lines: readonly string[]) =>
    lines.map((line) => line.split(" ").slice(0, 2).join(" ")).sort();
  // `counts verify` writes only with an option.
  expect([...declared(true), "counts verify"].sort()).toEqual(named(writing));
  expect(declared("always").sort()).toEqual(named(always));
});

test.each([...writing, ...always])("%s: a table of another data format is refused", async (line) => {
  const before = await tableItems();
  for (const format of [dataFormat - 1, dataFormat + 1, undefined]) {
    tagTable(tableName, format);
    expect((await ops(line)).stderr).toContain(
      `has ${format === undefined ? "no data format" : `the data format ${format}`}, but this program writes ${dataFormat}: nothing was written. Check out`,
    );
    expect(await tableItems()).toEqual(before);
  }
  expect(await ops("keys list")).toMatchObject({ code: 0 });
  tagTable(tableName, dataFormat);
});

test("on a frozen account, commands that write refuse in one sentence, and dry runs and commands that read still work", async () => {
  await ops("accounts freeze --cache-seconds 0");
  const frozen = memory.snapshot();
  const before = await tableItems();
  const since = await readFrozenAt("acme");
  const sentence = `The account acme has been frozen since ${since}, because it is being moved or erased: nothing was written. To continue an erasure, run \`accounts erase\`. Otherwise, to let the account write again, run \`npm run ops -- accounts unfreeze --account acme --table ${tableName}\`.\n`;
  for (const line of writing)
    expect([line, await ops(line)]).toEqual([line, { code: 1, stdout: "", stderr: sentence }]);
  expect((await ops(`accounts copy --from-table ${from} --to-account acme`, "other")).stderr).toBe(sentence);
  const withDryRun = writing.filter((line) => /^(?:leads|accounts copy)/.test(line));
  for (const line of [...withDryRun, `leads import --undo ${importId}`, "accounts erase"])
    expect([line, (await ops(`${line} --dry-run`)).code]).toEqual([line, 0]);
  expect(await tableItems()).toEqual(before);
  const reading = [`leads show --lead ${ada}`, "keys list"];
  for (const line of [...reading, `accounts copy --from-table ${tableName} --to-account copied`, ...always]) {
    memory.restore(frozen);
    expect([line, (await ops(line)).code]).toEqual([line, 0]);
  }
  expect(await readFrozenAt("copied")).toBeUndefined();
});
