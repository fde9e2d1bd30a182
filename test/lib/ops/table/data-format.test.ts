import type { Command } from "commander";
import { expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { conversationsCommand } from "../../../../lib/ops/conversations/conversations-command.ts";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { keysCommand } from "../../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { dataFormat } from "../../../../shared/dynamodb/data-format.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { runCommand } from "../../../support/command.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { tagTable, useMemoryTables } from "../../../support/memory-tables.ts";
import { aLead } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";

useMemoryTables();

/** Gives the table a data format, as a deployment does, or takes it away, as a restore does. */
const deploy = (format: number | undefined) => tagTable(tableName, format);

const person = ["--account", "acme"];
const file = await leadFile("name\nAda\n");
await aLead("acme");

/** Every command that writes, with what it needs; each would write, or fail for another reason. */
const writing: [name: string, command: () => Command, args: string[]][] = [
  ["keys", keysCommand, ["issue", ...person]],
  ["keys", keysCommand, ["revoke", ...person, "--key", "key", "--yes"]],
  ["leads", leadsCommand, ["set-status", ...person, "--lead", "lead_1", "--status", "new"]],
  ["leads", leadsCommand, ["set-score", ...person, "--lead", "lead_1", "--score", "1"]],
  ["leads", leadsCommand, ["import", file, ...person]],
  ["leads", leadsCommand, ["erase", ...person, "--lead", "lead_1", "--yes"]],
  [
    "conversations",
    conversationsCommand,
    ["set-status", ...person, "--conversation", "c", "--status", "active"],
  ],
  ["counts", countsCommand, ["verify", ...person, "--repair"]],
  ["accounts", accountsCommand, ["set-limit", ...person, "--requests", "1"]],
  ["accounts", accountsCommand, ["copy", ...person, "--from-table", "none"]],
  ["accounts", accountsCommand, ["erase", ...person, "--yes"]],
];

test.each(writing)("%s: a table of another data format is refused", async (_, command, args) => {
  for (const stored of [dataFormat - 1, dataFormat + 1, undefined]) {
    deploy(stored);
    const before = await tableItems();
    const { failure } = await runCommand(command(), ...args);
    expect(failure).toContain(
      `has ${stored === undefined ? "no data format" : `the data format ${stored}`}, but this program has ${dataFormat}: nothing was written. Check out`,
    );
    expect(await tableItems()).toEqual(before);
  }
});

test("each command that declares that it writes is among them", () => {
  const groups = [keysCommand, leadsCommand, conversationsCommand, countsCommand, accountsCommand];
  const declared = groups.flatMap((group) =>
    group()
      .commands.filter((command) => command.getOptionValue("writes"))
      .map((command) => `${group().name()} ${command.name()}`),
  );
  const tested = writing.map(([name, , [command]]) => `${name} ${command}`);
  expect(declared.length).toBeGreaterThanOrEqual(10);
  expect(tested).toEqual(expect.arrayContaining(declared));
});

test("of the same format, a command writes; one that reads is not refused", async () => {
  deploy(dataFormat);
  expect(await runCommand(keysCommand(), "issue", ...person)).toMatchObject({ failure: undefined });
  deploy(99);
  expect(await runCommand(keysCommand(), "list", ...person)).toMatchObject({ failure: undefined });
});
