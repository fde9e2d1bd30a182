import { randomUUID } from "node:crypto";
import { DeleteCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { eraseCommand } from "../../../../lib/ops/leads/leads-erase.ts";
import { showCommand } from "../../../../lib/ops/leads/leads-show.ts";
import * as keys from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Key, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import type { RouteName } from "../../../../shared/routes.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { withFields } from "../../../support/cases/with-fields.ts";
import { runCommand, runJson } from "../../../support/commands/command.ts";
import { anAccount } from "../../../support/commands/lead-files.ts";
import { call } from "../../../support/requests/call.ts";
import type { TestRequest } from "../../../support/requests/events.ts";
import { aLead, aMessage } from "../../../support/requests/requests.ts";
import { beforeCall } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { storedConversation } from "../../../support/tables/stored.ts";
import { compareItems, put, remove, tableItems } from "../../../support/tables/table-items.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

skipWaits();

const email = "ada@example.com";

const name = ({ pk, sk }: Key) => `${pk} ${sk}`;

/**
 * Creates a lead with a conversation on each of two channels, and then changes the lead, a message and its conversation. All
 * requests have idempotency keys. @returns the lead, with the keys of its items
 */
async function aKnownLead(account: string, email?: string) {
  await anAccount(account);
  const before = await tableItems();
  const requests: [RouteName, TestRequest][] = [];
  const post = async <Route extends "create-lead" | "send-message">(
    route: Route,
    body: object,
    query = "",
  ) => {
    const request = { account, query, body, headers: { "idempotency-key": randomUUID() } };
    const response = await call(route, request);
    expect(response.status).toBe(query === "" ? 201 : 200);
    requests.push([route, request]);
    return response.body;
  };
  const externalId = `crm-${randomUUID()}`;
  const addresses = { web: [externalId] };
  const { id } = await post("create-lead", { name: "Ada", externalId, addresses, ...(email && { email }) });
  const send = (channel: string) => post("send-message", { leadId: id, channel, message: "Hello" });
  await send("whatsapp");
  await send("email");
  const { id: messageId, conversationId } = await send("email");
  await post("send-message", { id: messageId, conversationId, delivery: "read" }, "update=message");
  await post("send-message", { id: conversationId, status: "closed" }, "update=conversation");
  await post("create-lead", { externalId, name: "Ada Lovelace" }, "ifExists=update");
  const { added } = compareItems(before, await tableItems());
  // The lead, its external id and address, two conversations with their locks, three messages, and a record of each request.
  expect(added).toHaveLength(17);
  return { id, requests, items: added };
}

const erase = (account: string, ...args: string[]) =>
  runJson(eraseCommand(), "--account", account, "--yes", ...args);

const deletedItems = { conversations: 2, messages: 3, locks: 2, idempotencyRecords: 3, invalid: [] };

test("several leads are shown and erased at once, and those that do not exist are named, like the items that are left", async () => {
  const account = await anAccount();
  const [{ id: one }, { id: two }] = [await aLead(account), await aLead(account, { name: "Grace" })];
  const { conversationId } = await aMessage(account, one);
  const missing = newId("lead");
  const show = (...ids: string[]) => runJson(showCommand(), "--account", account, "--lead", ...ids);
  const failure = `The account ${account} has no lead ${missing}.`;
  expect(await show(missing)).toEqual({ output: undefined, failure });
  expect(await erase(account, "--lead", missing)).toEqual({ output: undefined, failure });
  const leads = [{ lead: { id: one } }, { lead: { id: two } }];
  expect(await show(one, missing, two, one)).toMatchObject({ output: { leads }, failure });
  const ids = ["--lead", one, missing, two];
  await put({ ...keys.messageKey(account, conversationId, newId("msg")), leadId: 5 });
  const erased = await erase(account, ...ids);
  expect(erased.output).toMatchObject({ leads: [one, two], messages: 1 });
  expect(erased.failure).toMatch(new RegExp(`^${failure}\n.*its leadId is not a string\n`, "s"));
  expect(await show(two)).toMatchObject({ failure: `The account ${account} has no lead ${two}.` });
});

test("leads erase says what it will erase before it asks: also earlier erasures that had not ended, but no unknown leads", async () => {
  const account = await anAccount();
  const [{ id: one }, { id: two }, missing] = [await aLead(account), await aLead(account), newId("lead")];
  await aMessage(account, one);
  for (const { id } of [await aLead(account), await aLead(account), { id: two }])
    await beginErasure(account, id, new Pace());
  const run = (input: string, ...args: string[]) =>
    program(["leads", "erase", "--account", account, "--table", tableName, ...args], { input });
  const unfinished = " Leads of earlier erasures that had not ended: 2.\n";
  const dry = await run("", "--lead", one, two, "--dry-run");
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining(`records.${unfinished}`) });
  const { code, stdout, stderr } = await run(`${account}\n`, "--lead", one, two, missing);
  const unknown = `The account ${account} has no lead ${missing}.\n`;
  expect(stderr).toMatch(
    new RegExp(
      `^${[one, two].join(", ")}, .* will be erased.${unfinished}This cannot be undone. Type the name of the account to erase 4 leads: The leads are deleted, .*: waiting for 35 s.\\n${unknown}$`,
    ),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(`records.${unfinished}`) });
});

describe("leads erase", () => {
  test("deletes everything that names the lead, and nothing else, after a dry run that counts the same", async () => {
    const account = "acme-1";
    const lead = await aKnownLead(account);
    await aKnownLead(account);
    // An account whose name begins like the other's.
    await aKnownLead("acme");
    const before = await tableItems();
    const args = ["--lead", lead.id];
    const output = { account, leads: [lead.id], ...deletedItems };
    const report = { failure: undefined, output };
    expect(await erase(account, ...args, "--dry-run")).toEqual(report);
    const { printed } = await runCommand(eraseCommand(), "--account", account, ...args, "--dry-run");
    expect(printed).toEqual([
      `${lead.id} would be erased: 2 conversations, 3 messages, 2 locks, 3 idempotency records.`,
    ]);
    expect(await tableItems()).toEqual(before);
    expect(await erase(account, ...args)).toEqual(report);
    const after = await tableItems();
    const left = keys.erasedLeadKey(account, lead.id);
    const { added, changed, deleted } = compareItems(before, after);
    // The records of its creation, of its messages and of its change stay, without the lead.
    const records = lead.items.filter((item) => !deleted.includes(item));
    expect({ added, changed, deleted }).toEqual({
      added: [name(left)],
      changed: [expect.stringMatching(/^IDEMPOTENCY#/)],
      deleted: lead.items.filter((item) => !records.includes(item)),
    });
    expect(records).toHaveLength(5);
    for (const record of records) expect(JSON.stringify(after.get(record))).not.toContain("Ada");
    expect(after.get(name(left))).toEqual({
      ...{ ...left, leadId: lead.id, id: expect.stringMatching(/^erasure_/) },
    });
    const codes: string[] = [];
    for (const [route, request] of lead.requests) codes.push((await call(route, request)).problem.code);
    const nouns = ["lead", "lead", "lead", "lead", "message", "conversation", "lead"];
    expect(codes).toEqual(nouns.map((noun) => `${noun}_not_found`));
    for (const [route, query] of [
      ["list-leads", `id=${lead.id}`],
      ["list-conversations", `leadId=${lead.id}`],
    ] as const)
      expect((await call(route, { account, query })).body.pagination.total).toBe(0);
  });

  test("waits for requests that had already found or stored the lead, and erases what they write", async () => {
    const account = randomUUID();
    const { id } = await aLead(account);
    const { conversationId, ...message } = await aMessage(account, id, "email");
    const lead = await readItem(keys.leadKey(account, id));
    using waits = skipWaits(async () => {
      // From the first step on, no request finds the lead.
      expect(await readItem(keys.leadKey(account, id))).toBeUndefined();
      const body = { id: message.id, conversationId, delivery: "read" };
      const headers = { "idempotency-key": id };
      const late = await call("send-message", { account, query: "update=message", headers, body });
      expect(late.status).toBe(404);
      // The second attempt of the call that had stored the lead stores it again.
      await put(lead ?? {});
      await aMessage(account, id);
    });
    const { output } = await erase(account, "--lead", id);
    // As long as anything that found the lead before may write.
    expect(waits.lengths).toEqual([35_000]);
    expect(output).toMatchObject({ conversations: 2, messages: 2, locks: 2 });
    const left = [...(await tableItems()).keys()].filter((key) => key.includes(account));
    expect(left).toEqual([name(keys.erasedLeadKey(account, id))]);
  });

  test("also erases an external id or address that the lead gets meanwhile, but no external id that another lead gets", async () => {
    const account = randomUUID();
    const { id } = await aLead(account, { externalId: "crm-1" });
    const other = await aLead(account, { externalId: "crm-2" });
    const begin = async (id: string, meanwhile: () => Promise<unknown>) => {
      using _ = beforeCall((command) => command instanceof TransactWriteCommand, meanwhile);
      await beginErasure(account, id, new Pace());
    };
    const stored = [
      await readItem(keys.leadKey(account, id)),
      await readItem(keys.externalIdKey(account, "crm-1")),
    ];
    for (const item of stored) await remove(item ?? {});
    await begin(id, () => Promise.all(stored.map((item) => put(item ?? {}))));
    for (const item of stored) expect((await tableItems()).has(name(item as Key))).toBe(false);
    const { id: changed } = await aLead(account);
    const body = { id: changed, addresses: { sms: ["1"] } };
    await begin(changed, () => call("create-lead", { account, query: "ifExists=update", body }));
    expect(await readItem(keys.addressKey(account, "sms", "1"))).toBeUndefined();
    await put({ ...keys.externalIdKey(account, "crm-2"), leadId: id });
    using _ = beforeCall(
      (command) => command instanceof DeleteCommand,
      () => put({ ...keys.externalIdKey(account, "crm-2"), leadId: other.id }),
    );
    expect((await erase(account, "--lead", id)).failure).toBeUndefined();
    expect(await readItem(keys.externalIdKey(account, "crm-2"))).toMatchObject({ leadId: other.id });
  });

  test("lists erasures as pending or ended, and an ended one can be repeated by the id", async () => {
    const account = await anAccount();
    const { id } = await aLead(account, { email });
    const erased = async () => (await runJson(leadsCommand(), "erased", "--account", account)).output;
    await beginErasure(account, id, new Pace());
    expect(await erased()).toEqual([{ leadId: id, erasedAt: expect.any(String), pending: true }]);
    expect((await erase(account, "--email", email)).output.leads).toEqual([id]);
    expect(await erased()).toMatchObject([{ leadId: id, pending: false }]);
    expect((await erase(account, "--lead", id)).output).toMatchObject({ leads: [id], messages: 0 });
  });

  test.each([
    ["--email", email, "email address"],
    ["--external-id", "crm-1", "external id"],
    ["--address", "web:crm-1", "address"],
  ])("says of a person by %s whom no lead is left for that it only finishes earlier erasures", async (option, value, by) => {
    const account = await anAccount();
    const { id } = await aLead(account, { email: "grace@example.com" });
    const run = () => runCommand(eraseCommand(), "--account", account, "--yes", option, value);
    await beginErasure(account, id, new Pace());
    const { failure, printed } = await run();
    expect(failure).toBeUndefined();
    expect(printed.join()).toMatch(
      new RegExp(`^${id} erased: .* Leads of earlier erasures that had not ended: 1.$`),
    );
    expect((await run()).failure).toBe(`The account ${account} has no lead with this ${by}.`);
  });

  test("finds by an email address the leads that have it as their email in any letter case, and the one that has it as an address", async () => {
    const account = await anAccount();
    const both = await aLead(account, { email, addresses: { email: [email.toUpperCase()] } });
    const field = await aLead(account, { email: "Ada@EXAMPLE.com" });
    const { output } = await erase(account, "--email", email, "--dry-run");
    expect(output.leads.sort()).toEqual([both.id, field.id].sort());
    // An item of a name whose lead does not have it leads nowhere.
    await put({ ...keys.addressKey(account, "web", "ada"), leadId: both.id });
    const { failure } = await erase(account, "--address", "web:ada");
    expect(failure).toBe(`The account ${account} has no lead with this address.`);
    const address = await aLead(account, { addresses: { email: ["grace@example.com"] } });
    const line = `leads erase --account ${account} --email Grace@example.com --table ${tableName}`;
    const { code, stdout } = await program(line.split(" "), { input: `${account}\n` });
    expect([code, stdout]).toEqual([0, expect.stringMatching(`^${address.id} erased: `)]);
  });
});

test("leads show reports a lead that the index lists for an email address, but whose own email cannot be read", async () => {
  const account = await anAccount();
  const { id } = await aLead(account, { email });
  await put(withFields((await readItem(keys.leadKey(account, id))) ?? {}, { email: ["x"] }));
  const args = ["leads", "show", "--account", account, "--table", tableName, "--email", email];
  const { code, stdout, stderr } = await program(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(new RegExp(` ${id} +its email is not a string\n`));
  expect(stderr).toContain(`The account ${account} has no lead with this email address.\n`);
});

test("leads show shows a lead with its conversations and messages", async () => {
  const account = randomUUID();
  const lead = await aLead(account, {
    ...{ email: "ada@example.com", tags: ["vip", "hot"], externalId: "crm-1", metadata: { plan: "pro" } },
    addresses: { sms: ["+49 177 1"] },
  });
  const first = await aMessage(account, lead.id, "whatsapp", { message: "Hello\nAda" });
  const second = await aMessage(account, lead.id, "whatsapp", { message: "Hello again" });
  const { data: conversations } = (await call("list-conversations", { account })).body;
  const stored = { lead, conversations: [{ ...conversations[0], messages: [first, second] }] };
  const { output } = await runJson(showCommand(), "--account", account, "--email", "ADA@example.com");
  expect(output).toEqual({ account, leads: [stored], invalid: [] });
  for (const person of [
    ["--lead", lead.id],
    ["--external-id", "crm-1"],
    ["--address", "SMS:491771"],
  ]) {
    const { printed } = await runCommand(showCommand(), "--account", account, ...person);
    expect(printed).toEqual([JSON.stringify({ account, leads: [stored], invalid: [] }, null, 2)]);
  }
});

test("an erasure that ends after its account was erased leaves nothing of the lead", async () => {
  const account = randomUUID();
  const { id } = await aLead(account);
  await beginErasure(account, id, new Pace());
  await remove(keys.erasedLeadKey(account, id));
  await endErasure(account, id, new Pace());
  expect(await readItem(keys.erasedLeadKey(account, id))).toBeUndefined();
});

test("the messages of a lead are shown, and erased, even if another lead's conversation has replaced their own", async () => {
  const account = "acme";
  const ada = await aKnownLead(account);
  const names = ada.items.filter((item) => item.startsWith("CONVERSATION"));
  for (const each of names) {
    const [, id = ""] = each.split(" ");
    const conversation = storedConversation(id);
    await put(conversation);
    const { leadId } = conversation;
    await put({ ...keys.messageKey(account, id, newId("msg")), leadId, message: "Of another lead" });
  }
  const ofAda = ["--account", account, "--lead", ada.id];
  const { code, stdout } = await program(["leads", "show", ...ofAda, "--table", tableName, "--json"]);
  const { leads, invalid } = JSON.parse(stdout);
  expect(code).toBe(3);
  const messages = leads[0].conversations.flatMap((each: { messages: object[] }) => each.messages);
  expect(messages).toEqual(Array(3).fill(expect.objectContaining({ leadId: ada.id, message: "Hello" })));
  expect(invalid.map(name).sort()).toEqual(names);
  expect((await erase(account, "--lead", ada.id)).failure).toBeUndefined();
  const left = [...(await tableItems())].filter((entry) => JSON.stringify(entry).includes(ada.id));
  expect(left.map(([key]) => key.split("#")[0]).sort()).toEqual(["ERASED", ...Array(4).fill("IDEMPOTENCY")]);
});

test("an erasure by email keeps leads whose own email differs or cannot be read, and a lead that only the note of another names", async () => {
  const account = randomUUID();
  const byParent = keys.leadEmailPartition(account, "ada@example.com");
  const { id } = await aKnownLead(account, "ada@example.com");
  await put({ ...keys.leadKey(account, newId("lead")), byParent, email: "bob@example.com" });
  const nameless = { ...keys.leadKey(account, newId("lead")), byParent, email: 5 };
  const other = await aKnownLead(account);
  const note = { ...keys.erasedLeadKey(account, "lead_x"), id: "erasure_1", leadId: other.id, pending: true };
  for (const item of [nameless, note]) await put(item);
  const first = await erase(account, "--email", "ada@example.com");
  expect(first.output.leads).toEqual([id]);
  expect(first.output.invalid.map(name)).toEqual([nameless, note].map(name));
  const second = await erase(account, "--email", "ada@example.com");
  expect(second.output).toBeUndefined();
  expect(second.failure).toContain(" then run the command again");
});

test("an item under another spelling of the account is erased with its lead", async () => {
  const { id } = await aLead("acme");
  const key = { pk: "EXTERNAL#%61cme", sk: "crm-1" };
  await put({ ...key, leadId: id });
  expect((await erase("acme", "--lead", id)).failure).toBeUndefined();
  expect(await readItem(key)).toBeUndefined();
});
