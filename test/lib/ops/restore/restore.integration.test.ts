import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { CreateTableCommand, DeleteTableCommand } from "@aws-sdk/client-dynamodb";
import {
  NumberValue,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/changes/conversation-status.ts";
import { verifyCommand } from "../../../../lib/ops/counts-verify-command.ts";
import { longestWrite } from "../../../../lib/ops/erasure/erase-leads.ts";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { eraseCommand } from "../../../../lib/ops/erasure/leads-erase.ts";
import { Pace } from "../../../../lib/ops/pace.ts";
import { parallel } from "../../../../lib/ops/restore/restoration.ts";
import { restoreCommand } from "../../../../lib/ops/restore-command.ts";
import { toEvents } from "../../../../shared/domain/events.ts";
import { activeConversationKey, conversationKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import {
  type Item,
  type Key,
  selectTable,
  table,
  tableName,
} from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { tableItems } from "../../../support/table-items.ts";
import { expectConsistent, put, remove, restoredItems } from "./support/restored-items.ts";
import { ago, anAccount, at, close, hour, junk, spoil } from "./support/spoiled-account.ts";
import { once, whileWriting } from "./support/while-writing.ts";

// While a test is in the past, the SDK takes each error for one of the clock, which it corrects before it tries again.
beforeEach(() => selectTable(tableName, { maxAttempts: 1 }));

const noWait = async () => {};
const program = join(import.meta.dirname, "../../../../bin/ops.ts");

const isWriteOf = (command: unknown, id: string) =>
  command instanceof TransactWriteCommand &&
  command.input.TransactItems?.some(({ Put }) => Put?.Item?.id === id) === true;

const isOfMessages = ({ input }: QueryCommand) =>
  String(input.ExpressionAttributeValues?.[":pk"]).startsWith("MESSAGE");

/** A busy machine cannot serve all of them at once. */
async function oneByOne<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) results.push(await work(value));
  return results;
}

const restore = (account: string, from: string, ...args: string[]) =>
  runJson(restoreCommand(noWait), "--account", account, "--from-table", from, "--at", at, "--yes", ...args);

/** The changes of the one account, without those of which there are none. */
function changesOf({ output, failure }: Awaited<ReturnType<typeof runJson>>) {
  expect(failure).toBeUndefined();
  return Object.fromEntries(
    Object.entries<Record<string, number>>(output.accounts[0].changes).flatMap(([name, kinds]) =>
      Object.entries(kinds).flatMap(([kind, number]) => (number > 0 ? [[`${kind} ${name}`, number]] : [])),
    ),
  );
}

const statusOf = async (account: string, id: string) =>
  (await call("list-conversations", { account, query: `id=${id}` })).body.data[0]?.status;

const spoiledChanges = {
  ...{ "create leads": 1, "replace leads": 1, "delete leads": 1 },
  ...{ "create conversations": 1, "replace conversations": 1, "delete conversations": 1 },
  ...{ "create messages": 1, "replace messages": 1, "delete messages": 2 },
  ...{ "create pointers": 1, "delete pointers": 1 },
};

describe("restore", () => {
  test("makes the items of an account those of the other table, and changes nothing of another account", async () => {
    const data = await anAccount();
    const other = await anAccount();
    await spoil(data);
    await spoil(other);
    const untouched = restoredItems(await tableItems(), other.account);
    expect(changesOf(await restore(data.account, data.from))).toEqual(spoiledChanges);
    expect((await expectConsistent(data.account)).items).toEqual(data.before);
    expect(restoredItems(await tableItems(), other.account)).toEqual(untouched);
    expect(await runJson(verifyCommand(noWait), "--account", data.account)).toEqual({ output: [] });
    expect(changesOf(await restore(data.account, data.from))).toEqual({});
  });

  test("--dry-run finds the same changes, lists their keys, and changes nothing", async () => {
    const data = await anAccount();
    await spoil(data);
    const before = await tableItems();
    const args = ["--account", data.account, "--from-table", data.from, "--at", at, "--dry-run"];
    const { printed, failure } = await runCommand(restoreCommand(noWait), ...args, "--json");
    const output = JSON.parse(printed.join("\n"));
    expect(changesOf({ output, failure })).toEqual(spoiledChanges);
    expect(output).toMatchObject({ restored: false, fromTable: data.from, at });
    expect(output.changes).toHaveLength(Object.values(spoiledChanges).reduce((sum, number) => sum + number));
    const { account, ada } = data;
    expect(output.changes).toContainEqual({ account, change: "create", ...leadKey(account, ada.id) });
    expect((await runCommand(restoreCommand(noWait), ...args)).printed).toEqual([
      [
        `1 of 1 accounts differ from ${data.from}, which has the data of ${at}.`,
        `${account}: create 1 leads, 1 conversations, 1 messages, 1 pointers; replace 1 leads, 1 conversations, 1 messages; delete 1 leads, 1 conversations, 2 messages, 1 pointers`,
      ].join("\n"),
    ]);
    expect(await tableItems()).toEqual(before);
  });

  test("--dry-run does not take a message that comes meanwhile for a difference", async () => {
    const { account, ada, from } = await anAccount();
    const send = once(() => aMessage(account, ada.id));
    const args = ["--account", account, "--from-table", from, "--at", at, "--dry-run"];
    const { printed } = await whileWriting(
      (command) => command instanceof QueryCommand && isOfMessages(command),
      send,
      () => runCommand(restoreCommand(noWait), ...args),
    );
    expect(printed[0]).toBe(`0 of 1 accounts differ from ${from}, which has the data of ${at}.`);
    expect((await expectConsistent(account)).conversations.map(({ messageCount }) => messageCount)).toContain(
      3,
    );
  });

  test("--dry-run ends without an error when nobody reads its list", async () => {
    const data = await anAccount();
    await spoil(data);
    const args = ["--account", data.account, "--from-table", data.from, "--at", at, "--local", "--dry-run"];
    const env = { ...process.env, DATA_DIR: await createDataDirectory() };
    const command = [process.execPath, program, "restore", ...args, "--json"];
    const { stderr } = await promisify(execFile)("sh", ["-c", '"$@" | true', "sh", ...command], { env });
    expect(stderr).toBe("");
  });

  test("keeps what was created since: leads, conversations, and messages in restored conversations", async () => {
    const data = await anAccount();
    const { account, ada, grace, from } = data;
    const { id } = await aLead(account);
    const started = await aMessage(account, id);
    const joined = await aMessage(account, grace.whatsapp && grace.id);
    const sms = await aMessage(account, ada.id, "sms");
    await spoil(data);
    const { output } = await restore(account, from);
    expect(output.restored).toBe(true);
    const { items, leads } = await expectConsistent(account);
    expect(leads).toContain(id);
    const find = (wanted: string) => Object.values(items).find((item) => item.id === wanted);
    for (const message of [started, joined, sms]) expect(find(message.id)).toMatchObject(message);
    expect(find(grace.whatsapp)).toMatchObject({ messageCount: 3, lastMessageAt: joined.createdAt });
  });

  test("--delete-newer deletes that, too", async () => {
    const data = await anAccount();
    const { account, grace, from } = data;
    await aMessage(account, (await aLead(account)).id);
    await aMessage(account, grace.id);
    await aMessage(account, grace.id, "sms");
    await spoil(data);
    await restore(account, from, "--delete-newer");
    expect((await expectConsistent(account)).items).toEqual(data.before);
  });

  test("a restored conversation is closed if a newer one is active in its place", async () => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    const { conversationId: newer } = await aMessage(account, ada.id);
    expect(newer).not.toBe(ada.whatsapp);
    await remove(conversationKey(account, ada.whatsapp));
    await restore(account, from);
    await expectConsistent(account);
    expect([await statusOf(account, ada.whatsapp), await statusOf(account, newer)]).toEqual([
      "closed",
      "active",
    ]);
    expect(changesOf(await restore(account, from))).toEqual({});
  });

  test("a restored conversation is active again if the newer one has ended", async () => {
    const { account, ada, from, before } = await anAccount();
    await close(account, ada.whatsapp);
    const { conversationId: newer } = await aMessage(account, ada.id);
    await close(account, newer);
    await restore(account, from);
    const { items } = await expectConsistent(account);
    expect(items).toMatchObject(before);
    expect(await statusOf(account, newer)).toBe("closed");
    expect((await aMessage(account, ada.id)).conversationId).toBe(ada.whatsapp);
  });

  test.each([
    "older",
    "newer",
  ])("the %s of two conversations is active again, whichever holds the pointer", async (which) => {
    const { account, ada } = await anAccount();
    const { conversationId: second } = await ago(hour - 1000, async () => {
      await close(account, ada.whatsapp);
      return aMessage(account, ada.id);
    });
    const [wanted, other] = which === "newer" ? [second, ada.whatsapp] : [ada.whatsapp, second];
    const activate = async (id: string, ended: string) => {
      await close(account, ended);
      await setConversationStatus(account, id, "active", Date.now() + 10_000);
    };
    await activate(wanted, other);
    const from = await copyTable();
    const before = restoredItems(await tableItems(), account);
    await activate(other, wanted);
    expect(changesOf(await restore(account, from))).toEqual({
      "replace conversations": 2,
      "replace pointers": 1,
    });
    expect((await expectConsistent(account)).items).toEqual(before);
  });

  test("an older conversation does not wait for ever for one that must end before", async () => {
    const account = randomUUID();
    const leads = await ago(hour, () =>
      oneByOne(Array.from({ length: parallel + 1 }), async () => (await aLead(account)).id),
    );
    const start = (time: number) =>
      ago(time, () => oneByOne(leads, async (id) => (await aMessage(account, id)).conversationId));
    const older = await start(hour - 1000);
    const from = await copyTable();
    const before = restoredItems(await tableItems(), account);
    for (const id of older) await close(account, id);
    await start(hour - 2000);
    expect(changesOf(await restore(account, from))).toMatchObject({ "replace conversations": leads.length });
    expect((await expectConsistent(account)).items).toEqual(before);
  });

  test("what was added of a time in the past stays as far as a new message needs it", async () => {
    const { account, from, before } = await anAccount();
    const added = await junk(account, hour);
    await junk(account, hour, "closed");
    const message = await aMessage(account, added.id);
    expect(message.conversationId).toBe(added.conversationId);
    const found = await restore(account, from);
    expect(changesOf(found)).toEqual({
      ...{ "delete leads": 1, "delete conversations": 1, "delete messages": 2, "delete pointers": 1 },
      "replace conversations": 1,
    });
    const { items, conversations } = await expectConsistent(account);
    expect(Object.keys(items)).toHaveLength(Object.keys(before).length + 4);
    expect(conversations.find(({ id }) => id === added.conversationId)).toMatchObject({
      ...{ status: "active", messageCount: 1, lastMessageAt: message.createdAt },
    });
  });

  test.each([
    [["LEAD"]],
    [["MESSAGE"]],
    [["CONVERSATION", "MESSAGE", "ACTIVE"]],
  ])("an erased lead stays erased, and what an earlier run restored of it is deleted: %j", async (types) => {
    const { account, ada, grace, from, before } = await anAccount();
    await runJson(eraseCommand(noWait), "--account", account, "--lead", ada.id);
    const erased = restoredItems(await tableItems(), account);
    expect(JSON.stringify(erased)).not.toContain(ada.id);
    expect(changesOf(await restore(account, from))).toEqual({});
    expect(restoredItems(await tableItems(), account)).toEqual(erased);
    // As a run leaves it that ends while the lead is erased.
    for (const item of Object.values(before))
      if (types.some((type) => String(item.pk).startsWith(type)) && JSON.stringify(item).includes(ada.id))
        await put(item);
    await restore(account, from);
    expect(restoredItems(await tableItems(), account)).toEqual(erased);
    expect((await expectConsistent(account)).leads).toEqual(new Set([grace.id]));
  });

  test("a lead that is erased meanwhile is deleted at the end", async () => {
    const { account, ada, from } = await anAccount();
    await remove(leadKey(account, ada.id));
    const erase = once(() => beginErasure(account, ada.id, new Pace()));
    await whileWriting(
      (command) => isWriteOf(command, ada.id),
      erase,
      () => restore(account, from),
    );
    const names = Object.entries(restoredItems(await tableItems(), account)).filter((entry) =>
      JSON.stringify(entry).includes(ada.id),
    );
    expect(names).toEqual([]);
  });

  test("a message that is sent while its conversation is compared is not lost", async () => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    await setConversationStatus(account, ada.whatsapp, "active", Date.now() + 10_000);
    const item = { TableName: tableName, Key: conversationKey(account, ada.whatsapp) };
    const change = { UpdateExpression: "SET messageCount = :n", ExpressionAttributeValues: { ":n": 9 } };
    await table.send(new UpdateCommand({ ...item, ...change }));
    const send = once(() => aMessage(account, ada.id));
    await whileWriting(
      (command) => command instanceof PutCommand && command.input.Item?.id === ada.whatsapp,
      send,
      () => restore(account, from),
    );
    const { conversations } = await expectConsistent(account);
    expect(conversations.find(({ id }) => id === ada.whatsapp)).toMatchObject({
      status: "active",
      messageCount: 3,
    });
  });

  test("a conversation that is started in place of one that becomes active again stays the only active one", async () => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    const start = once(() => aMessage(account, ada.id));
    await whileWriting(
      (command) => command instanceof TransactWriteCommand,
      start,
      () => restore(account, from),
    );
    await expectConsistent(account);
    expect(await statusOf(account, ada.whatsapp)).toBe("closed");
  });

  test("a lead comes back if a request that had found it has started a conversation", async () => {
    const { account, from } = await anAccount();
    const added = await junk(account, hour);
    const lead = (await tableItems()).get(`LEAD#${account} ${added.id}`);
    const wait = once(async () => {
      await put(lead as Item);
      await aMessage(account, added.id, "sms");
      await remove(leadKey(account, added.id));
    });
    const command = restoreCommand(async (time) => time === longestWrite && wait());
    const args = ["--account", account, "--from-table", from, "--at", at, "--yes"];
    await runJson(command, ...args);
    const { items } = await expectConsistent(account);
    expect(items[`LEAD#${account} ${added.id}`]).toEqual(lead);
  });

  test("pointers that name each other's conversations are restored", async () => {
    const { account, ada, grace, from, before } = await anAccount();
    await put({ ...activeConversationKey(account, ada.id, "whatsapp"), conversationId: grace.whatsapp });
    await put({ ...activeConversationKey(account, grace.id, "whatsapp"), conversationId: ada.whatsapp });
    expect(changesOf(await restore(account, from))).toEqual({ "replace pointers": 2 });
    expect(restoredItems(await tableItems(), account)).toEqual(before);
  });

  test("replaces a number with more digits than JavaScript keeps", async () => {
    const { account, ada, grace, from, before } = await anAccount();
    const spoilScore = (id: string, score: string) =>
      table.send(
        new UpdateCommand({
          ...{
            TableName: tableName,
            Key: id.startsWith("lead") ? leadKey(account, id) : conversationKey(account, id),
          },
          UpdateExpression: "SET score = :score",
          ExpressionAttributeValues: { ":score": NumberValue.from(score) },
        }),
      );
    await spoilScore(ada.id, "33.333333333333333333333");
    // Its pointer changes, too: a transaction.
    await spoilScore(grace.whatsapp, "0.1234567890123456789");
    await remove(activeConversationKey(account, grace.id, "whatsapp"));
    expect(changesOf(await restore(account, from))).toEqual({
      ...{ "replace leads": 1, "replace conversations": 1, "create pointers": 1 },
    });
    expect(restoredItems(await tableItems(), account)).toEqual(before);
  });

  test("ends without a question when nothing differs", async () => {
    const { account, from } = await anAccount();
    const args = ["--account", account, "--from-table", from, "--at", at];
    const { printed, failure } = await runCommand(restoreCommand(noWait), ...args);
    expect({ printed, failure }).toEqual({
      printed: [`0 of 1 accounts differ from ${from}, which has the data of ${at}.`],
      failure: undefined,
    });
    expect((await runJson(restoreCommand(noWait), ...args)).output).toMatchObject({ restored: false });
  });

  test("prints what it restored when counting fails, and how to count", async () => {
    const { account, ada, from } = await anAccount();
    await remove(leadKey(account, ada.id));
    const wait = async (time: number) => {
      if (time >= 60_000) throw new Error("on purpose");
    };
    const args = ["--account", account, "--from-table", from, "--at", at, "--yes"];
    const { printed, failure } = await runCommand(restoreCommand(wait), ...args);
    expect(failure).toBe(
      `Restored; counting stopped: on purpose. Run \`counts rebuild --account ${account}\`.`,
    );
    expect(printed.join()).toContain(`${account}: created 1 leads`);
  });

  test("a table to restore from that is deleted meanwhile is named", async () => {
    const { account, from } = await anAccount();
    const removeTable = once(() => table.send(new DeleteTableCommand({ TableName: from })));
    const { failure } = await whileWriting(
      (command) => command instanceof QueryCommand && isOfMessages(command),
      removeTable,
      () => restore(account, from),
    );
    // For whoever deletes it after the test.
    await table.send(
      new CreateTableCommand({
        TableName: from,
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
        BillingMode: "PAY_PER_REQUEST",
      }),
    );
    expect(failure).toBe(
      `Stopped after 0 changes: There is no table ${from} to restore from. Run the same command again to continue.`,
    );
  });

  test("restores leads with the keys of indexes that are newer than the other table", async () => {
    const { account, ada, before } = await anAccount();
    const { byParent, ...old } = before[`LEAD#${account} ${ada.id}`] ?? {};
    expect(byParent).toBeDefined();
    await put(old);
    const from = await copyTable();
    await put({ ...old, byParent });
    expect(changesOf(await restore(account, from))).toEqual({});
    await remove(leadKey(account, ada.id));
    await restore(account, from);
    expect(restoredItems(await tableItems(), account)).toEqual(before);
  });

  test("restored items cause no events", async () => {
    const { account, ada, before } = await anAccount();
    const insert = (NewImage: Item, time: number) => ({
      eventName: "INSERT" as const,
      dynamodb: { NewImage: marshall(NewImage) as never, ApproximateCreationDateTime: time / 1000 },
    });
    const items = Object.values(before);
    expect(toEvents(items.map((item) => insert(item, Date.parse(at) + 60_001)))).toEqual([]);
    const lead = before[`LEAD#${account} ${ada.id}`] as Item;
    expect(toEvents([insert(lead, Date.parse(String(lead.createdAt)))])).toHaveLength(1);
  });

  test("--all restores the accounts that both tables have, and names the others", async () => {
    const data = await anAccount();
    const [gone, added] = [randomUUID(), randomUUID()];
    await ago(hour, () => aLead(gone));
    const from = await copyTable();
    for (const key of (await tableItems()).values())
      if (String(key.pk).includes(gone)) await remove(key as Key);
    await aLead(added);
    await spoil(data);
    const args = ["--all", "--from-table", from, "--at", at, "--yes"];
    const { output } = await runJson(restoreCommand(noWait), ...args);
    expect(output).toMatchObject({ gone: [gone], added: expect.arrayContaining([added]) });
    expect((await expectConsistent(data.account)).items).toEqual(data.before);
    expect(restoredItems(await tableItems(), gone)).toEqual({});
    const { printed } = await runCommand(restoreCommand(noWait), ...args);
    expect(printed.join("\n")).toContain(
      `perhaps because they were erased: ${gone}. --account restores one of them.`,
    );
    expect(changesOf(await restore(gone, from))).toEqual({ "create leads": 1 });
  });
});

describe("restore refuses", () => {
  const args = ["--account", "nobody", "--at", at, "--yes"];
  const failureOf = async (...others: string[]) =>
    (await runJson(restoreCommand(noWait), ...args, ...others)).failure;

  test("a table that does not exist, the live table, and one with other keys", async () => {
    expect(await failureOf("--from-table", "missing")).toBe("There is no table missing to restore from.");
    expect(await failureOf("--from-table", tableName)).toBe(
      `${tableName} is the live table itself: name the table that was restored beside it.`,
    );
    const TableName = `other-${randomUUID()}`;
    const AttributeDefinitions = [{ AttributeName: "id", AttributeType: "S" as const }];
    const KeySchema = [{ AttributeName: "id", KeyType: "HASH" as const }];
    await table.send(
      new CreateTableCommand({ TableName, AttributeDefinitions, KeySchema, BillingMode: "PAY_PER_REQUEST" }),
    );
    expect(await failureOf("--from-table", TableName)).toBe(
      `The table ${TableName} has other keys (id HASH): it is not a copy of the live table.`,
    );
    await table.send(new DeleteTableCommand({ TableName }));
  });

  test("a time that is unknown or too late, and an account that the table does not have", async () => {
    const { account, from } = await anAccount();
    const fails = async (...others: string[]) =>
      (await runJson(restoreCommand(noWait), "--account", account, "--from-table", from, "--yes", ...others))
        .failure;
    expect(await fails()).toBe(
      `DynamoDB does not know of which time the data of the table ${from} is: name the time with --at.`,
    );
    const now = new Date().toISOString();
    expect(await fails("--at", now)).toBe("The time of --at must be at least a minute ago.");
    expect(await failureOf("--from-table", from)).toBe(
      `The table ${from} has no leads and conversations of the account nobody.`,
    );
    const neither = await runJson(restoreCommand(noWait), "--from-table", from, "--at", at);
    expect(neither.failure).toBe("Name the account: --account ID or --all.");
  });

  test.each(["", "acm\n"])("a name that is not the account's: %j", async (input) => {
    const data = await anAccount();
    await spoil(data);
    const before = await tableItems();
    const command = ["restore", "--account", data.account, "--from-table", data.from, "--at", at, "--local"];
    const { code, stdout, stderr } = await ops(command, {
      dataDirectory: await createDataDirectory(),
      input,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`${data.account}: create 1 leads`);
    expect(stderr).toMatch(
      /That is not the name of the account: nothing was restored\. Scripts use --yes\.\n$/,
    );
    expect(await tableItems()).toEqual(before);
  });
});
