import { randomUUID } from "node:crypto";
import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, expect, test } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { formatColumns } from "../../../../lib/ops/output/columns.ts";
import { readFrozenAt } from "../../../../shared/domain/accounts.ts";
import { accountKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runCommand } from "../../../support/commands/command.ts";
import { anAccount, filePath, readLines } from "../../../support/commands/lead-files.ts";
import { beforeCall } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { compareItems, put, remove, tableItems } from "../../../support/tables/table-items.ts";
import { fillAccount } from "../support/full-account.ts";
import { program } from "../support/program.ts";
import { accounts } from "./support/copy.ts";

useTablesOfCommands();

const source = randomUUID();

beforeAll(() => fillAccount(source));

/** Exports the account. @returns the path of the file */
async function exported(): Promise<string> {
  const path = filePath(".jsonl");
  expect((await accounts("export", "--account", source, "--output", path)).failure).toBeUndefined();
  return path;
}

test("accounts copy copies an account to another one, with the same items", async () => {
  const lines = await readLines(await exported());
  expect(Object.groupBy(lines, ({ type }) => type)).toMatchObject({
    account: [{ createdAt: "2026-01-01T00:00:00.000Z", requests: 5 }],
    ...{ erasedLead: [{}], leadImport: [{}], lead: [{}, {}, {}] },
    ...{ conversation: Array(10).fill({}), message: Array(13).fill({}) },
  });
  // The message count comes from the messages, not from the conversation's item. A freeze is not exported.
  const own = (await readItem(accountKey(source))) ?? {};
  await put({ ...own, frozenAt: "2026-01-01T00:00:00.000Z" });
  const [joined] = [...(await tableItems()).values()].filter(({ messageCount }) => messageCount === 3);
  await put({ ...joined, messageCount: 9 });
  expect(await readLines(await exported())).toEqual(lines);
  for (const item of [joined, own]) await put({ ...item });
  const account = randomUUID();
  const args = ["copy", "--account", source, "--from-table", tableName, "--to-account", account];
  const before = await tableItems();
  expect((await accounts(...args, "--dry-run")).output).toMatchObject({ stored: 31 });
  expect(await tableItems()).toEqual(before);
  const output = {
    ...{ account, from: tableName, fromAccount: source, invalid: [] },
    ...{ stored: 31, present: 0, replaced: 0, erased: 0, left: 0 },
  };
  expect(await accounts(...args)).toEqual({ failure: undefined, code: 0, printed: "", output });
  const after = await tableItems();
  const { added, changed, deleted } = compareItems(before, after);
  expect({ changed, deleted }).toEqual({ changed: [], deleted: [] });
  // The copied items differ only in the account's name and the mark of the copy. Keys are not copied.
  for (const name of added) {
    const { imported, ...item } = after.get(name) ?? {};
    const original = before.get(name.replace(account, source));
    const { imported: _, changed, changeId, failureId, ...expected } = original ?? {};
    expect(JSON.parse(JSON.stringify(item).replaceAll(account, source))).toEqual(expected);
  }
  expect(added.filter((name) => name.startsWith("ACTIVE"))).toHaveLength(3);
  // A second copy changes nothing.
  const again = ["accounts", ...args, "--replace", "--table", tableName];
  const { stdout, stderr } = await program(again, { input: `${account}\n` });
  expect(stderr).toContain(
    `Type the name of the account that is written (${account}) to replace what differs: `,
  );
  expect(stdout).toBe(
    `From ${source} in ${tableName} to ${account} in ${tableName}: 0 items copied, 0 replaced, 31 already there, 0 of erased leads, 0 left out.\n`,
  );
  expect(await tableItems()).toEqual(after);
});

test("accounts export writes a file that only its owner can access, and never overwrites another file", async () => {
  const path = await exported();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const link = filePath(".jsonl");
  await symlink(filePath(".absent"), link);
  await writeFile(path, "mine");
  for (const existing of [path, link]) {
    const { failure } = await accounts("export", "--account", source, "--output", existing);
    expect(failure).toBe(`${existing} exists: delete it first, or name another file.`);
  }
  // Nor does it overwrite a file that is created while it reads.
  const late = filePath(".jsonl");
  {
    using _ = beforeCall(
      ({ input }) => String(input.ExpressionAttributeValues?.[":pk"]).startsWith("MESSAGE"),
      () => writeFile(late, "mine"),
    );
    const { failure } = await accounts("export", "--account", source, "--output", late);
    expect(failure).toBe(`${late} exists: delete it first, or name another file.`);
  }
  for (const file of [path, late]) expect(await readFile(file, "utf8")).toBe("mine");
  const files = await readdir(dirname(path));
  expect(files.filter((file) => file.endsWith(".part"))).toEqual([]);
});

test("accounts list counts the items of each account", async () => {
  const { output } = await accounts("list");
  expect(output.find(({ account }: Item) => account === source)).toEqual({
    ...{ account: source, requests: 5, lead: 3, leadImport: 1, erasedLead: 1, externalId: 1, address: 1 },
    ...{ conversation: 10, message: 13, active: 10, apiKey: 1, count: 4 },
  });
  expect(output.map(({ account }: Item) => account)).toEqual(
    output.map(({ account }: Item) => String(account)).toSorted(),
  );
  const { printed } = await runCommand(accountsCommand(), "list");
  expect(printed).toEqual([
    formatColumns(output, ["account", "lead", "conversation", "message", "apiKey", "requests", "frozenAt"]),
  ]);
});

test("accounts set-limit prints the limit of the account, which accounts list has", async () => {
  const limit = async (name: string, ...args: string[]) =>
    (await runCommand(accountsCommand(), name, "--account", source, ...args)).printed;
  const has = `The account ${source} has`;
  expect(await limit("set-limit", "--requests", "20000")).toEqual([
    `${has} a limit of 20000 requests a minute.`,
  ]);
  const { output } = await accounts("list");
  expect(output).toContainEqual(expect.objectContaining({ account: source, requests: 20_000 }));
  expect(await limit("set-limit", "--requests", "stage")).toEqual([`${has} the rate limit of its stage.`]);
  expect(await readItem(accountKey(source))).not.toHaveProperty("requests");
});

test("accounts freeze waits until no cached key and no running request can write, also when repeated, and prints its time", async () => {
  const { lengths } = skipWaits(async () => expect(await readFrozenAt(source)).toBeDefined());
  const freeze = (seconds: string) => accounts("freeze", "--account", source, "--cache-seconds", seconds);
  const [first, again] = [await freeze("60"), await freeze("0")];
  expect(lengths).toEqual([95_000, 35_000]);
  expect(first.printed).toMatch(/may still write: waiting for 95 s\.$/);
  const frozen = { account: source, frozenAt: await readFrozenAt(source) };
  expect([first.output, again.output, first.failure]).toEqual([frozen, frozen, undefined]);
  const { output } = await accounts("list");
  const marked = output.filter((each: Item) => each.frozenAt);
  expect(marked.map(({ account }: Item) => account)).toEqual([source]);
  const unfreeze = (...args: string[]) =>
    runCommand(accountsCommand(), "unfreeze", "--account", source, ...args);
  const canWrite = `The account ${source} can write again, with each key once it is authorized again.`;
  expect(await unfreeze()).toEqual({ printed: [canWrite], failure: undefined });
  expect(await readFrozenAt(source)).toBeUndefined();
  expect((await unfreeze("--json")).printed).toEqual([JSON.stringify({ account: source, frozenAt: null })]);
});

test.each([
  ["set-limit", ["--requests", "7"], { frozenAt: "2026-01-01T00:00:00.000Z" }],
  ["freeze", ["--cache-seconds", "0"], { requests: 5 }],
  ["unfreeze", [], { requests: 5 }],
])("`accounts %s` %j keeps what is set while it runs, and does not bring back an erased account", async (name, args, set) => {
  skipWaits();
  const [kept, erased] = [await anAccount(), await anAccount()];
  const run = async (account: string, meanwhile: () => Promise<unknown>) => {
    using _ = beforeCall((command) => command instanceof UpdateCommand, meanwhile);
    const { failure } = await accounts(name, "--account", account, ...args);
    return { failure, item: await readItem(accountKey(account)) };
  };
  const own = (await readItem(accountKey(kept))) ?? {};
  expect(await run(kept, () => put({ ...own, ...set }))).toMatchObject({ failure: undefined, item: set });
  const failure = "The conditional request failed";
  expect(await run(erased, () => remove(accountKey(erased)))).toEqual({ failure, item: undefined });
});
