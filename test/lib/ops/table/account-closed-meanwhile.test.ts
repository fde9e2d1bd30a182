import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { freezeAccount } from "../../../../lib/ops/erasure/erase.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { accountKey } from "../../../../shared/dynamodb/keys.ts";
import { unpaced } from "../../../../shared/dynamodb/pace.ts";
import { type Key, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runJson } from "../../../support/commands/command.ts";
import { anAccount, leadFile } from "../../../support/commands/lead-files.ts";
import { aroundCalls, stores } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { remove, tableItems } from "../../../support/tables/table-items.ts";
import { copy } from "../accounts/support/copy.ts";

useTablesOfCommands();

skipWaits();

/** How many rows are stored by each command. */
const rows = 300;

const numbers = Array.from({ length: rows }, (_, i) => i);
const file = await leadFile(`externalId,name\n${numbers.map((i) => `${i},Ada\n`).join("")}`);
const changes = await leadFile(`externalId,score\n${numbers.map((i) => `${i},5\n`).join("")}`);

const load = (account: string, path = file, ...args: string[]) =>
  runJson(leadsCommand(), "import", path, "--account", account, ...args);

const source = await anAccount();
await load(source);

const commands = {
  "leads import": { open: anAccount, run: load },
  "leads import --update": {
    open: async () => {
      const account = await anAccount();
      await load(account);
      return account;
    },
    run: (account: string) => load(account, changes, "--update"),
  },
  // It makes the account, which does not exist before.
  "accounts copy": {
    open: async () => randomUUID(),
    run: (account: string) => copy(source, tableName, "--to-account", account),
  },
};

/** How an account is closed, and how the error then ends. An erased account must not come back by the same command. */
const closures: Readonly<Record<string, [close: (account: string) => Promise<unknown>, end: string]>> = {
  frozen: [
    (account) => freezeAccount(account, unpaced),
    "has been frozen since [^ ]+, because it is being moved or erased\\. Run the same command again to continue\\.",
  ],
  erased: [(account) => remove(accountKey(account)), "was erased meanwhile\\."],
};

describe.each(Object.entries(commands))("%s", (_name, { open, run }) => {
  test.each(Object.entries(closures))("ends if its account is %s meanwhile", async (_, [close, end]) => {
    const account = await open();
    const storesLead = stores(({ pk }) => pk === `LEAD#${account}`);
    let writes = 0;
    let before = Number.POSITIVE_INFINITY;
    using _calls = aroundCalls(async (command, send) => {
      if (storesLead(command) && ++writes === 100) {
        await close(account);
        before = writes;
      }
      return send(command);
    });
    const { failure, output } = await run(account);
    expect(output).toBeUndefined();
    expect(failure).toMatch(
      new RegExp(`^Stopped after \\d+ rows, new ones as import_\\w+: The account ${account} ${end}$`),
    );
    // Only the writes that had begun.
    expect(writes - before).toBeLessThanOrEqual(32);
  });
});

test("a copy that continues stores nothing in an account that is erased before its first write", async () => {
  const account = randomUUID();
  const run = () => copy(source, tableName, "--to-account", account);
  await run();
  const lead = [...(await tableItems()).values()].find(({ pk }) => pk === `LEAD#${account}`) as Key;
  await remove(lead);
  using _calls = aroundCalls(async (command, send) => {
    if (command.input.Key?.pk === lead.pk) await remove(accountKey(account));
    return send(command);
  });
  expect((await run()).failure).toMatch(`The account ${account} was erased meanwhile.`);
  expect(await readItem(lead)).toBeUndefined();
});
