import { randomUUID } from "node:crypto";
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { describe, expect, test, vi } from "vitest";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { eraseCommand } from "../../../../lib/ops/erasure/leads-erase.ts";
import { longestWrite } from "../../../../lib/ops/erasure/sweep-erased.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { exportCommand } from "../../../../lib/ops/leads/leads-export.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { showCommand } from "../../../../lib/ops/leads/leads-show.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import {
  activeConversationKey,
  erasedLeadKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Key, readItem, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../shared/ids.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { call } from "../../../support/call.ts";
import { runCommand, runJson } from "../../../support/command.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { compareItems, tableItems } from "../../../support/table-items.ts";
import { aKnownLead } from "./known-lead.ts";

const noWait = async () => {};
const dataDirectory = await createDataDirectory();
const erase = (account: string, ...args: string[]) =>
  runJson(eraseCommand(noWait), "--account", account, "--yes", ...args);

const name = ({ pk, sk }: Key) => `${pk} ${sk}`;

const deletedItems = { conversations: 2, messages: 3, pointers: 2, idempotencyRecords: 4, unreadable: [] };

describe("leads erase", () => {
  test("deletes everything that names the lead, and nothing else", async () => {
    const account = "acme-1";
    const lead = await aKnownLead(account);
    await aKnownLead(account);
    // An account whose name begins like the other's.
    await aKnownLead("acme");
    const before = await tableItems();
    expect(await erase(account, "--lead", lead.id)).toEqual({
      failure: undefined,
      output: { account, leads: [lead.id], ...deletedItems },
    });
    const after = await tableItems();
    const left = erasedLeadKey(account, lead.id);
    expect(compareItems(before, after)).toEqual({ added: [name(left)], changed: [], deleted: lead.items });
    expect(after.get(name(left))).toEqual({
      ...{ ...left, leadId: lead.id, id: expect.stringMatching(/^erasure_/) },
    });
  });

  test("afterwards the lead does not exist for any request, replays included", async () => {
    const account = randomUUID();
    const { id, requests } = await aKnownLead(account);
    await erase(account, "--lead", id);
    const [, ...messages] = requests;
    for (const request of messages) {
      const { status, problem } = await call("send-message", request);
      expect({ status, code: problem.code }).toEqual({ status: 404, code: "lead_not_found" });
    }
    for (const [route, query] of [
      ["list-leads", `id=${id}`],
      ["list-conversations", `leadId=${id}`],
    ] as const)
      expect((await call(route, { account, query })).body.pagination.total).toBe(0);
  });

  test("--email finds all leads with the address, in any letter case", async () => {
    const account = randomUUID();
    const leads = [
      await aKnownLead(account, "Ada@example.com"),
      await aKnownLead(account, "ada@EXAMPLE.com"),
    ];
    const other = await aKnownLead(account, "grace@example.com");
    const before = await tableItems();
    const { output } = await erase(account, "--email", "ADA@example.com");
    expect(output.leads.toSorted()).toEqual(leads.map(({ id }) => id).sort());
    const { deleted } = compareItems(before, await tableItems());
    expect(deleted).toEqual(leads.flatMap(({ items }) => items).sort());
    expect(deleted).not.toContain(other.items[0]);
  });

  test("--dry-run counts the same, and changes nothing", async () => {
    const account = randomUUID();
    const { id } = await aKnownLead(account);
    const before = await tableItems();
    const { output } = await erase(account, "--lead", id, "--dry-run");
    expect(output).toEqual({ account, leads: [id], ...deletedItems });
    expect(compareItems(before, await tableItems())).toEqual({ added: [], changed: [], deleted: [] });
    const { printed } = await runCommand(
      eraseCommand(noWait),
      "--account",
      account,
      "--lead",
      id,
      "--dry-run",
    );
    expect(printed).toEqual([
      `${id} would be erased: 2 conversations, 3 messages, 2 pointers, 4 idempotency records.`,
    ]);
  });

  test("--no-scan keeps the idempotency records", async () => {
    const account = randomUUID();
    const { id, items } = await aKnownLead(account);
    const before = await tableItems();
    await erase(account, "--lead", id, "--no-scan");
    const { deleted } = compareItems(before, await tableItems());
    expect(deleted).toEqual(items.filter((item) => !item.startsWith("IDEMPOTENCY")));
  });

  test.each(["--lead", "--email"])("asks for what %s names, and refuses another text", async (option) => {
    const account = randomUUID();
    const email = "ada@example.com";
    const { id, items } = await aKnownLead(account, email);
    const text = option === "--lead" ? id : email;
    const args = ["leads", "erase", "--account", account, option, text, "--no-scan", "--local"];
    const before = await tableItems();
    for (const input of ["", `${text}x\n`]) {
      const { code, stdout, stderr } = await ops(args, { dataDirectory, input });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`${id} will be erased: 2 conversations, 3 messages, 2 pointers`);
      expect(stderr).toMatch(/nothing was changed\. Scripts use --yes\.\n$/);
    }
    expect(compareItems(before, await tableItems()).deleted).toEqual([]);
    // An erasure waits for eleven seconds.
    if (option === "--lead") return;
    const { code, stdout } = await ops(args, { dataDirectory, input: `${text}\n` });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${id} erased: 2 `) });
    const { deleted } = compareItems(before, await tableItems());
    expect(deleted).toEqual(items.filter((item) => !item.startsWith("IDEMPOTENCY")));
  });

  test("a message that was being sent leaves nothing behind", async () => {
    const account = randomUUID();
    const { id, items } = await aKnownLead(account);
    const before = await tableItems();
    const conversationId = `conv_${ulid()}`;
    const messageId = `msg_${ulid()}`;
    const late = conversationItem(account, {
      ...{ id: conversationId, leadId: id, channel: "sms", status: "active", messageCount: 1 },
      lastMessageAt: createdAt(messageId),
    });
    const pointer = { ...activeConversationKey(account, id, "sms"), conversationId };
    const message = { ...messageKey(account, conversationId, messageId), id: messageId, leadId: id };
    // The request had found the lead, and writes while the command waits for such requests.
    const wait = async () => {
      for (const Item of [late, pointer, message])
        await table.send(new PutCommand({ TableName: tableName, Item }));
    };
    const { output } = await runJson(eraseCommand(wait), "--account", account, "--yes", "--lead", id);
    expect(output).toMatchObject({ conversations: 3, messages: 4, pointers: 3 });
    expect(compareItems(before, await tableItems()).deleted).toEqual(items);
  });

  test("finishes an erasure that ended early, also when it is no longer found by its address", async () => {
    const account = randomUUID();
    const { id, items } = await aKnownLead(account, "ada@example.com");
    const before = await tableItems();
    await beginErasure(account, id, new Pace());
    const { output } = await erase(account, "--email", "ada@example.com");
    expect(output.leads).toEqual([id]);
    expect(compareItems(before, await tableItems()).deleted).toEqual(items);
    expect(await erase(account, "--email", "ada@example.com")).toEqual({
      output: undefined,
      failure: `The account ${account} has no lead with this email address.`,
    });
    expect((await erase(account, "--lead", id)).output).toMatchObject({ leads: [id], messages: 0 });
    const again = ["--account", account, "--lead", id] as const;
    // Where nothing is left to erase, there is nothing to ask.
    expect(await runCommand(eraseCommand(noWait), ...again)).toEqual({
      ...{ printed: [`Nothing was left of ${id}.`], failure: undefined },
    });
    const { printed } = await runCommand(eraseCommand(noWait), ...again, "--dry-run");
    expect(printed).toEqual([`Nothing is left of ${id}.`]);
    const erased = await runJson(leadsCommand(), "erased", "--account", account);
    expect(erased.output).toEqual([{ leadId: id, erasedAt: expect.any(String), pending: false }]);
    const table = await runCommand(leadsCommand(), "erased", "--account", account);
    expect(String(table.printed[0])).toMatch(new RegExp(`^leadId +erasedAt +pending\n${id}  \\S+Z  false$`));
  });

  test.each([
    [["--lead", "lead_1"], "The account known has no lead lead_1."],
    [["--email", "a@example.com"], "The account known has no lead with this email address."],
    [[], "Name the person: --lead ID or --email ADDRESS."],
  ])("%j fails with one sentence", async (args, failure) => {
    await issueApiKey("known");
    expect(await erase("known", ...args)).toEqual({ output: undefined, failure });
  });
});

test("an erased lead is not stored again by importing its old file", async () => {
  const account = randomUUID();
  const erased = await aLead(account, { name: "Ada" });
  const kept = await aLead(account, { name: "Grace" });
  const path = filePath(".csv");
  await runCommand(exportCommand(), "--account", account, "--output", path);
  await erase(account, "--lead", erased.id);
  const { output } = await runJson(importCommand(noWait), path, "--account", account);
  expect(output).toMatchObject({ rows: 2, imported: 0, present: 1, erased: 1 });
  const { printed } = await runCommand(importCommand(noWait), path, "--account", account);
  expect(printed).toEqual(["2 rows: 0 imported, 1 already imported, 1 of erased leads, 0 invalid."]);
  const { data } = (await call("list-leads", { account })).body;
  expect(data.map(({ id }) => id)).toEqual([kept.id]);
});

/** Stores a lead as a run of an import does. */
const importLead = (account: string, lead: Lead, imported: string) =>
  table.send(new PutCommand({ TableName: tableName, Item: { ...leadItem(account, lead), imported } }));

test("a lead that an import stored after its erasure, before it was killed, is deleted by the next run", async () => {
  const account = randomUUID();
  const lead = await aLead(account, { name: "Ada" });
  await aLead(account, { name: "Grace" });
  const path = filePath(".csv");
  await runCommand(exportCommand(), "--account", account, "--output", path);
  await erase(account, "--lead", lead.id);
  // The killed run had read the erased leads before.
  await importLead(account, lead, "run 1");
  await aMessage(account, lead.id);
  const { output } = await runJson(importCommand(noWait), path, "--account", account);
  expect(output).toMatchObject({ rows: 2, imported: 0, present: 1, erased: 1 });
  const left = [...(await tableItems())].filter((entry) => JSON.stringify(entry).includes(lead.id));
  expect(left.map(([key]) => key)).toEqual([name(erasedLeadKey(account, lead.id))]);
});

test("what a request that had found such a lead writes at the end of the import is deleted, too", async () => {
  const account = randomUUID();
  const lead = await aLead(account, { name: "Ada" });
  const path = filePath(".csv");
  await runCommand(exportCommand(), "--account", account, "--output", path);
  await erase(account, "--lead", lead.id);
  await importLead(account, lead, "run 1");
  const waits: number[] = [];
  const write = async (time: number) => {
    waits.push(time);
    expect(await readItem(leadKey(account, lead.id))).toBeUndefined();
    await importLead(account, lead, "run 2");
    await aMessage(account, lead.id);
    await table.send(new DeleteCommand({ TableName: tableName, Key: leadKey(account, lead.id) }));
  };
  expect((await runJson(importCommand(write), path, "--account", account)).output).toMatchObject({
    erased: 1,
  });
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(longestWrite);
  const left = [...(await tableItems())].filter((entry) => JSON.stringify(entry).includes(lead.id));
  expect(left.map(([key]) => key)).toEqual([name(erasedLeadKey(account, lead.id))]);
});

test("an import that fails deletes what it stored of leads that were erased meanwhile", async () => {
  const account = randomUUID();
  await issueApiKey(account);
  const id = `lead_${ulid()}`;
  const path = await leadFile(`id,name\n${id},Ada\n,Grace\n`);
  const send = DynamoDBDocumentClient.prototype.send;
  const spy = vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(function (
    this: DynamoDBDocumentClient,
    ...args: unknown[]
  ) {
    const [command] = args;
    if (!(command instanceof PutCommand) || command.input.Item?.name !== "Grace")
      return Reflect.apply(send, this, args);
    const fail = () => Promise.reject(new Error("on purpose"));
    return expect
      .poll(() => readItem(leadKey(account, id)))
      .toBeDefined()
      .then(() => beginErasure(account, id, new Pace()))
      .then(() =>
        importLead(
          account,
          { id, name: "Ada", score: 0, status: "new", tags: [], createdAt: createdAt(id) },
          "run",
        ),
      )
      .then(fail);
  } as never);
  const { failure } = await runCommand(importCommand(noWait), path, "--account", account);
  spy.mockRestore();
  expect(failure).toBe("Stopped after 1 rows: on purpose. Run the same command again to continue.");
  expect(await readItem(leadKey(account, id))).toBeUndefined();
});

test("a lead that is erased while its file is imported is deleted at the end of the import", async () => {
  const [from, to] = [randomUUID(), randomUUID()];
  await issueApiKey(to);
  const leads = [];
  for (let i = 0; i < 40; i++) leads.push(await aLead(from));
  const path = filePath(".csv");
  await runCommand(exportCommand(), "--account", from, "--output", path);
  const { id = "" } = leads.at(0) ?? {};
  const importing = runJson(importCommand(noWait), path, "--account", to, "--rate", "40");
  await expect
    .poll(async () => (await call("list-leads", { account: to })).body.pagination.total)
    .toBeGreaterThan(0);
  // The import knows the erased leads by now, and has not come to this one.
  await beginErasure(to, id, new Pace());
  expect((await importing).output).toMatchObject({ imported: 40, erased: 0 });
  const { data } = (await call("list-leads", { account: to, query: "limit=100" })).body;
  expect(data).toHaveLength(39);
  expect(data.map((lead) => lead.id)).not.toContain(id);
});

describe("leads show", () => {
  test("shows a lead with its conversations and messages", async () => {
    const account = randomUUID();
    const lead = await aLead(account, { email: "ada@example.com", tags: ["vip", "hot"] });
    const first = await aMessage(account, lead.id, "whatsapp", "Hello\nAda");
    const second = await aMessage(account, lead.id, "whatsapp", "Hello again");
    const { data: conversations } = (await call("list-conversations", { account })).body;
    const stored = { lead, conversations: [{ ...conversations[0], messages: [first, second] }] };
    for (const person of [
      ["--lead", lead.id],
      ["--email", "ADA@example.com"],
    ]) {
      const { output } = await runJson(showCommand(), "--account", account, ...person);
      expect(output).toEqual({ account, leads: [stored], unreadable: [] });
    }
    const { printed } = await runCommand(showCommand(), "--account", account, "--lead", lead.id);
    expect(String(printed[0])).toContain("email: ada@example.com\n");
    expect(String(printed[0])).toContain("tags: vip, hot\n");
    expect(String(printed[0])).toContain(`  ${first.createdAt}  "Hello\\nAda"\n`);
    const unknown = await runCommand(showCommand(), "--account", account, "--lead", "lead_1");
    expect(unknown).toEqual({ printed: [], failure: `The account ${account} has no lead lead_1.` });
  });
});
