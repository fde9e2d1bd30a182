import { expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { keysCommand } from "../../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { dataFormat } from "../../../../shared/dynamodb/data-format.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { leadFile } from "../../../support/lead-files.ts";
import { tagTable, useTablesOfCommands } from "../../../support/memory-tables.ts";
import { aLead } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

/** Gives the table a data format, as a deployment does, or takes it away, as a restore does. */
const deploy = (format: number | undefined) => tagTable(tableName, format);

const file = await leadFile("name\nAda\n");
await aLead("acme");

/** Every command that writes, with what it needs; each would write, or fail for another reason. */
const writing = [
  ...["keys issue", "keys revoke --key key --yes", `leads import ${file}`, "leads erase --lead lead_1 --yes"],
  "counts verify --repair",
  ...["accounts set-limit --requests 1", "accounts copy --from-table none", "accounts erase --yes"],
  ...["accounts freeze --cache-seconds 0", "accounts unfreeze"],
];

const ops = (line: string) => program([...line.split(" "), "--account", "acme", "--table", tableName]);

test.each(writing)("%s: a table of another data format is refused", async (line) => {
  for (const stored of [dataFormat - 1, dataFormat + 1, undefined]) {
    deploy(stored);
    const before = await tableItems();
    expect((await ops(line)).stderr).toContain(
      `has ${stored === undefined ? "no data format" : `the data format ${stored}`}, but this program has ${dataFormat}: nothing was written. Check out`,
    );
    expect(await tableItems()).toEqual(before);
  }
});

test("each command that declares that it writes is among them", () => {
  const groups = [keysCommand, leadsCommand, countsCommand, accountsCommand];
  const declared = groups.flatMap((group) =>
    group()
      .commands.filter((command) => command.getOptionValue("writes"))
      .map((command) => `${group().name()} ${command.name()}`),
  );
  const tested = writing.map((line) => line.split(" ").slice(0, 2).join(" "));
  expect(declared.length).toBeGreaterThanOrEqual(7);
  expect(tested).toEqual(expect.arrayContaining(declared));
});

test("of the same format, a command writes; one that reads is not refused", async () => {
  deploy(dataFormat);
  expect(await ops("keys issue")).toMatchObject({ code: 0 });
  deploy(99);
  expect(await ops("keys list")).toMatchObject({ code: 0 });
});
