import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { expect, onTestFinished, test } from "vitest";
import { setLeadStatus } from "../../../lib/ops/changes/lead-changes.ts";
import { Pace } from "../../../lib/ops/pace.ts";
import { inPartition, queryItems } from "../../../lib/ops/query-items.ts";
import { conversationItem, toConversation } from "../../../shared/domain/conversations.ts";
import { leadItem, toLead } from "../../../shared/domain/leads.ts";
import { indexes, leadKey, listPartition } from "../../../shared/dynamodb/keys.ts";
import { type Item, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../shared/ids.ts";
import { call } from "../../support/call.ts";
import { createDataDirectory, ops as runOps } from "../../support/ops.ts";
import { aLead, aMessage } from "../../support/requests.ts";
import { removeAttributes, setAttributes } from "./changes/support.ts";

const kills = Number(process.env.BACKFILL_KILLS ?? 2);
const dataDirectory = await createDataDirectory();

const backfill = (...args: readonly string[]) =>
  runOps(["index", "backfill", "--local", ...args], { dataDirectory });

const createAccount = () => `a${randomUUID()}`;

async function readRows(account: string): Promise<Item[]> {
  const rows: Item[] = [];
  for (const type of ["lead", "conversation"] as const)
    for await (const items of queryItems(inPartition(listPartition(type, account)), new Pace()))
      rows.push(...items);
  return rows;
}

/** An item as the code stores it now. */
const compose = (account: string, item: Item) =>
  String(item.sk).startsWith("lead_")
    ? leadItem(account, toLead(item))
    : conversationItem(account, toConversation(item));

/** Stores leads and conversations as they were stored before there were indexes. @returns how they are stored now */
async function storeOldRows(account: string, count: number): Promise<Item[]> {
  const at = Date.UTC(2026, 5, 1);
  const rows = Array.from({ length: count }, (_, i) => {
    const [id, leadId] = [`conv_${ulid(at + i)}`, `lead_${ulid(at + i)}`];
    const lead = { name: "Ada", email: `ada${i % 7}@example.com`, source: "fair", score: 0, tags: ["vip"] };
    const times = { createdAt: createdAt(leadId) };
    const conversation = { id, leadId, channel: "sms", messageCount: 1, lastMessageAt: times.createdAt };
    return [
      leadItem(account, { ...lead, ...times, id: leadId, status: "new", tags: ["vip"] }),
      conversationItem(account, { ...conversation, status: "active" }),
    ];
  }).flat();
  for (const row of rows) {
    const stored = Object.entries(row).filter(([name]) => !Object.values<string>(indexes).includes(name));
    await table.send(new PutCommand({ TableName: tableName, Item: Object.fromEntries(stored) }));
  }
  return rows.sort((a, b) => (a.pk + a.sk < b.pk + b.sk ? 1 : -1));
}

test("rows from before an index are listed in it, once, and the others stay unchanged", async () => {
  const account = createAccount();
  const [old, without, other] = [
    await aLead(account, { email: "Ada@example.com" }),
    await aLead(account),
    await aLead(account, { email: "ada@example.com" }),
  ];
  const { conversationId } = await aMessage(account, old.id);
  await removeAttributes(leadKey(account, old.id), ["byParent"]);
  const byEmail = async () =>
    (await call("list-leads", { account, query: "email=ada@example.com" })).body.data.map(({ id }) => id);
  expect(await byEmail()).toEqual([other.id]);

  const planned = await backfill("--account", account, "--dry-run");
  expect(planned).toEqual({
    code: 0,
    stdout: "1 of 4 rows would get the index keys that they lacked.\n",
    stderr: "",
  });
  expect(await byEmail()).toEqual([other.id]);

  const done = await backfill("--account", account);
  expect(done.stdout).toBe("1 of 4 rows have got the index keys that they lacked.\n");
  expect(await byEmail()).toEqual([other.id, old.id]);

  const again = await backfill("--account", account, "--json");
  expect(JSON.parse(again.stdout)).toEqual({
    ...{ account, backfilled: true, rows: 4, outdated: 0, incomplete: 0, incompleteKeys: [] },
  });
  expect((await call("list-leads", { account })).body.data).toEqual([other, without, old]);
  const { body } = await call("list-conversations", { account, query: `leadId=${old.id}` });
  expect(body.data.map(({ id }) => id)).toEqual([conversationId]);
});

test("with --all, the rows of all accounts are listed, and incomplete ones stay as they are", async () => {
  const accounts = [createAccount(), createAccount(), createAccount()] as const;
  const expected = await Promise.all(accounts.map((account) => storeOldRows(account, 20)));
  const incomplete = { ...leadKey(accounts[1], `lead_${ulid()}`), name: "Nobody" };
  await table.send(new PutCommand({ TableName: tableName, Item: incomplete }));
  const { code, stdout } = await backfill("--all");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^120 of \d+ rows have got the index keys that they lacked\./);
  expect(stdout).toContain(`Incomplete rows stay as they are: 1 (${incomplete.pk} ${incomplete.sk}).`);
  for (const [i, account] of accounts.entries())
    expect((await readRows(account)).filter(({ sk }) => sk !== incomplete.sk)).toEqual(
      expect.arrayContaining(expected[i] ?? []),
    );
  expect(await readRows(accounts[1])).toContainEqual(incomplete);
});

test("a backfill that is killed again and again ends like one that is not, and changes of rows beside it are kept", async () => {
  const account = createAccount();
  const rows = 100 * kills;
  const expected = await storeOldRows(account, rows);
  const progress = join(await createDataDirectory(), "progress.json");
  const args = ["index", "backfill", "--local", "--account", account, "--progress", progress];
  const program = join(import.meta.dirname, "../../../bin/ops.ts");
  const doneRows = async () => {
    const text = await readFile(progress, "utf8").catch(() => "{}");
    return Number(JSON.parse(text).position?.rows ?? 0);
  };
  const changed: string[] = [];
  for (let round = 0; round < kills; round++) {
    const command = spawn(process.execPath, [program, ...args, "--rate", "32"], {
      env: { ...process.env, DATA_DIR: dataDirectory },
      stdio: "ignore",
    });
    onTestFinished(() => void command.kill("SIGKILL"));
    const exit = once(command, "exit");
    const enough = (await doneRows()) + 1 + Math.floor(Math.random() * 100);
    await expect
      .poll(
        async () => {
          const id = String(expected[Math.floor(Math.random() * rows)]?.sk).replace("conv_", "lead_");
          if (await setLeadStatus(account, id, "booked", Date.now() + 10_000)) changed.push(id);
          return (await doneRows()) >= enough || command.exitCode !== null;
        },
        { interval: 5 },
      )
      .toBe(true);
    command.kill("SIGKILL");
    await exit;
  }
  const before = await doneRows();
  const last = await runOps(args, { dataDirectory });
  // Where the processes are much slower than the writes, the last one may have ended before its kill.
  expect(last).toMatchObject({ code: 0, stderr: before > 0 ? `Continuing after ${before} rows.\n` : "" });
  expect(last.stdout).toMatch(new RegExp(` of ${2 * rows} rows have got the index keys`));
  expect(existsSync(progress)).toBe(false);
  const stored = await readRows(account);
  expect(stored).toHaveLength(2 * rows);
  const byId = new Map(stored.map((item) => [item.sk, item]));
  expect(changed.length).toBeGreaterThan(0);
  for (const row of expected) {
    const status = changed.includes(String(row.sk)) ? "booked" : row.status;
    expect(byId.get(row.sk)).toEqual(compose(account, { ...row, status }));
  }
});

test("rows with fields of other types stay as they are, and the first of them are named", async () => {
  const account = createAccount();
  const wrong = await Promise.all(
    Array.from({ length: 7 }, () => aLead(account, { email: "ada@example.com" })),
  );
  const keys = wrong.map(({ id }) => leadKey(account, id)).sort((a, b) => (a.sk < b.sk ? -1 : 1));
  await Promise.all(keys.map((key) => setAttributes(key, { email: null })));
  const old = await aLead(account, { email: "ada@example.com" });
  await removeAttributes(leadKey(account, old.id), ["byParent"]);
  const named = keys.slice(0, 5);
  const done = await backfill("--account", account);
  expect(done).toEqual({
    code: 0,
    stdout:
      "1 of 8 rows have got the index keys that they lacked. Incomplete rows stay as they are: 7 " +
      `(${named.map(({ pk, sk }) => `${pk} ${sk}`).join(", ")}, …).\n`,
    stderr: "",
  });
  const again = await backfill("--account", account, "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ outdated: 0, incomplete: 7, incompleteKeys: named });
});

test("a dry run with a progress file counts the rows that are left, and keeps the file", async () => {
  const account = createAccount();
  const rows = await storeOldRows(account, 10);
  const progress = join(await createDataDirectory(), "progress.json");
  const task = { local: true, account, indexes };
  const { pk, sk } = rows.find(({ pk }) => pk === listPartition("conversation", account)) ?? {};
  const position = { key: { pk, sk }, rows: 10, outdated: 10, incomplete: 0 };
  const text = JSON.stringify({ task, position });
  await writeFile(progress, text);
  const options = ["--account", account, "--progress", progress];
  expect(await backfill(...options, "--dry-run")).toEqual({
    code: 0,
    stdout: "10 of 10 rows would get the index keys that they lacked.\n",
    stderr: "Continuing after 10 rows.\n",
  });
  expect(await readFile(progress, "utf8")).toBe(text);
  expect((await backfill(...options)).stdout).toBe(
    "20 of 20 rows have got the index keys that they lacked.\n",
  );
  expect(existsSync(progress)).toBe(false);
});

test("the progress of another task, or of other indexes, is refused", async () => {
  const account = createAccount();
  await aLead(account);
  const progress = join(await createDataDirectory(), "progress.json");
  const position = { key: leadKey(account, "lead_0"), rows: 7, outdated: 7, incomplete: 0 };
  const other = { account, local: true, indexes: { "by-status": "byStatus" } };
  for (const text of [JSON.stringify({ task: other, position }), "{", "{}"]) {
    await writeFile(progress, text);
    expect(await backfill("--account", account, "--progress", progress)).toEqual({
      code: 1,
      stdout: "",
      stderr: `${progress} is not of this command: use the same options as before, or another file.\n`,
    });
  }
});

test("an account without rows has nothing to write", async () => {
  const { code, stdout } = await backfill("--account", createAccount());
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: "0 of 0 rows have got the index keys that they lacked.\n",
  });
});

test.each([
  [[], /^Name the account: --account ID or --all\.\n$/],
  [["--account", "a", "--all"], /cannot be used with/],
  [["--account", "a", "--rate", "0"], /A rate is a whole number above 0/],
  [["--account", "a", "--units", "x"], /Units are a whole number above 0/],
  [["--account", "a", "--progress", "/nowhere/progress.json"], /cannot be written/],
])("%j fails with one sentence", async (args, message) => {
  const { code, stdout, stderr } = await backfill(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\n +at /);
});
