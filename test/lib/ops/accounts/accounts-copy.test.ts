import { randomUUID } from "node:crypto";
import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test, vi } from "vitest";
import { summarize } from "../../../../shared/domain/conversations/conversations.ts";
import { updateConversation } from "../../../../shared/domain/conversations/update-conversation.ts";
import { nameKeys } from "../../../../shared/domain/lead-names.ts";
import { dataFormat } from "../../../../shared/dynamodb/data-format.ts";
import * as keys from "../../../../shared/dynamodb/keys.ts";
import { type Item, type Key, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import type { Message } from "../../../../shared/schemas/conversation-schemas.ts";
import { fieldsOf } from "../../../../shared/schemas/record.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { withFields } from "../../../support/cases/with-fields.ts";
import { call } from "../../../support/requests/call.ts";
import { aLead, aMessage } from "../../../support/requests/requests.ts";
import { beforeCall, stores } from "../../../support/tables/conditions.ts";
import { copyTable, tagTable, useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { compareItems, put, remove, tableItems } from "../../../support/tables/table-items.ts";
import { copy, replace } from "./support/copy.ts";

const memory = useTablesOfCommands();

skipWaits();

/** The items of an account that a copy restores, without the marks of their changes. */
const restoredItems = (items: ReadonlyMap<string, Item>, account: string) =>
  Object.fromEntries(
    [...items]
      .filter(([key]) =>
        new RegExp(`^(?:LEAD|EXTERNAL|ADDRESS|CONVERSATION|MESSAGE|ACTIVE)#${account}[# ]`).test(key),
      )
      .map(([key, { changed, changeId, failureId, ...item }]) => [key, item as Item]),
  );

/** Checks that the items of an account are consistent, as the API stores them. */
async function expectConsistent(account: string) {
  const items = Object.entries(restoredItems(await tableItems(), account));
  const ofType = (type: string) => items.filter(([key]) => key.startsWith(type)).map(([, item]) => item);
  const leads = new Set(ofType("LEAD").map(({ id }) => id));
  const named = ofType("LEAD").flatMap((lead) =>
    nameKeys(account, fieldsOf(lead)).map((key) => ({ ...key, leadId: lead.id })),
  );
  const names = [...ofType("EXTERNAL"), ...ofType("ADDRESS")];
  expect(new Set(names)).toEqual(new Set(named));
  const messages = ofType("MESSAGE").sort((a, b) => (String(a.sk) < String(b.sk) ? -1 : 1));
  const locks = new Map(
    ofType("ACTIVE").map(({ pk, sk, conversationId }) => [`${pk} ${sk}`, conversationId]),
  );
  const conversations = ofType("CONVERSATION");
  const ids = new Set(conversations.map(({ id }) => id));
  for (const conversation of conversations) {
    const { id, leadId, channel, status, awaitingReplySince } = conversation;
    expect(leads).toContain(leadId);
    const own = messages.filter(({ conversationId }) => conversationId === id);
    const { awaitingReplySince: since, ...summary } = summarize(own as unknown as Message[]);
    const row = fieldsOf(conversation);
    expect(row).toEqual({ ...row, ...summary });
    expect([undefined, status === "active" ? since : undefined]).toContain(awaitingReplySince);
    const { pk, sk } = keys.activeConversationKey(account, String(leadId), String(channel));
    // So no other conversation of the lead and channel is active.
    if (status === "active") expect(locks.get(`${pk} ${sk}`)).toBe(id);
  }
  for (const { conversationId } of messages) expect(ids).toContain(conversationId);
  return { items: Object.fromEntries(items), leads, conversations };
}

/** In milliseconds. */
const hour = 3_600_000;

/** Does something at a time in the past, in milliseconds before now. */
async function ago<T>(time: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - time });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

/** The account of `aFilledAccount`, and a copy of the table. */
async function anAccount() {
  const data = await aFilledAccount();
  const { account } = data;
  return { ...data, from: copyTable(), before: restoredItems(await tableItems(), account) };
}

/** An account with two leads, four conversations and six messages of an hour ago. */
async function aFilledAccount() {
  const account = randomUUID();
  const fill = async (lead: Parameters<typeof aLead>[1]) => {
    const { id } = await aLead(account, lead);
    const { conversationId: whatsapp } = await aMessage(account, id);
    await aMessage(account, id);
    const { conversationId: email } = await aMessage(account, id, "email");
    return { id, whatsapp, email };
  };
  const addresses = { whatsapp: ["+49 177 1"] };
  const fields = { email: "ada@example.com", source: "fair", externalId: "crm-ada", addresses };
  return ago(hour, async () => ({
    account,
    ada: await fill({ ...fields, metadata: { plan: "pro" } }),
    grace: await fill({ name: "Grace" }),
  }));
}

/** The messages of a conversation, oldest first. */
const messagesIn = (items: Readonly<Record<string, Item>>, conversation: string) =>
  Object.values(items).filter(({ conversationId, message }) => message && conversationId === conversation);

const close = (account: string, id: string) => updateConversation(account, { id, status: "closed" });

const statusOf = async (account: string, id: string) =>
  (await call("list-conversations", { account, query: `id=${id}` })).body.data[0]?.status;

describe("an account is copied from a table that was restored without indexes", () => {
  test("deleted and changed items are restored, and nothing is deleted", async () => {
    const { account, ada, grace, from, before } = await anAccount();
    const [lost = {}] = messagesIn(before, grace.whatsapp);
    for (const key of [keys.leadKey(account, ada.id), keys.conversationKey(account, ada.whatsapp), lost])
      await remove(key);
    await remove(keys.activeConversationKey(account, grace.id, "email"));
    const { byParent, ...lead } = before[`LEAD#${account} ${grace.id}`] ?? {};
    // The table would delete this lead in an hour.
    await put({ ...lead, status: "booked", note: "x", expiresAt: Math.ceil(Date.now() / 1000) + 3600 });
    await close(account, ada.email);
    const added = await aMessage(account, (await aLead(account)).id);
    const other = await aFilledAccount();
    const spoiled = await tableItems();
    const start = memory.snapshot();
    const restored = { stored: 3, replaced: 2, erased: 0, left: 0 };
    // Without --replace, changed items stay.
    expect((await copy(account, from)).output).toMatchObject({ ...restored, replaced: 0 });
    expect(restoredItems(await tableItems(), account)).toMatchObject(restoredItems(spoiled, account));
    memory.restore(start);
    expect((await replace(account, from, "--dry-run")).output).toMatchObject(restored);
    expect(await tableItems()).toEqual(spoiled);
    expect(await replace(account, from)).toMatchObject({ code: 0, failure: undefined, output: restored });
    const after = await tableItems();
    expect(compareItems(spoiled, after).deleted).toEqual([]);
    expect(restoredItems(after, other.account)).toEqual(restoredItems(spoiled, other.account));
    expect((await replace(account, from)).output).toMatchObject({ stored: 0, replaced: 0, left: 0 });
    expect(await tableItems()).toEqual(after);
    const { items } = await expectConsistent(account);
    const updatedAt = expect.toSatisfy((time: string) => Date.now() - Date.parse(time) < hour / 2);
    for (const [key, item] of Object.entries(before)) {
      const { imported, ...found } = items[key] ?? {};
      // The copy has changed this lead once more.
      const times = item.id === grace.id ? { activeAt: updatedAt, updatedAt } : {};
      expect(found).toEqual(withFields(item, times));
    }
    expect(Object.keys(items)).toContain(`MESSAGE#${account}#${added.conversationId} ${added.id}`);
  });

  test("an account gets its rate limit back unless another limit was set since, and a freeze is not copied", async () => {
    const account = randomUUID();
    const key = keys.accountKey(account);
    const [createdAt, since] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
    await put({ ...key, createdAt, requests: 100, frozenAt: since });
    const from = copyTable();
    for (const [here, copied] of [
      [{ createdAt: since, requests: 200 }, {}],
      [{ createdAt: since }, { requests: 100 }],
      [undefined, { createdAt, requests: 100, imported: expect.any(String) }],
    ]) {
      await (here ? put({ ...key, ...here }) : remove(key));
      await replace(account, from);
      expect(await readItem(key)).toEqual({ ...key, ...here, ...copied });
    }
  });

  test("--replace restores the addresses of a lead and removes others, and a lead that differs only in its time stays", async () => {
    const { account, ada, grace, from } = await anAccount();
    const update = (id: string, fields: object) =>
      call("create-lead", { account, query: "ifExists=update", body: { id, ...fields } });
    await update(ada.id, { addresses: { whatsapp: null, web: ["ada"] } });
    for (const score of [1, 0]) await update(grace.id, { score });
    const before = await tableItems();
    expect((await copy(account, from)).output).toMatchObject({ stored: 0, replaced: 0, left: 0 });
    expect(await tableItems()).toEqual(before);
    expect((await replace(account, from)).output).toMatchObject({ stored: 0, replaced: 1, left: 0 });
    const key = (type: string, sk: string) => `${type}#${account} ${sk}`;
    expect(compareItems(before, await tableItems())).toEqual({
      added: [key("ADDRESS", "whatsapp:491771")],
      changed: [key("LEAD", ada.id)],
      deleted: [key("ADDRESS", "web:ada")],
    });
    const { data } = (await call("list-leads", { account, query: "address=whatsapp:491771" })).body;
    expect(data).toMatchObject([{ id: ada.id, addresses: { whatsapp: ["+49 177 1"] } }]);
    const stored = fieldsOf(before.get(key("LEAD", ada.id)) ?? {});
    expect(String(data[0]?.updatedAt) > String(stored.updatedAt)).toBe(true);
  });

  test.each([
    // A copy reads the stored messages first, and again when it counts them.
    ["read", 2, (input: string, id: string) => input.includes(`"${tableName}"`) && input.includes(`#${id}"`)],
    ["written", 1, (input: string, id: string) => input.includes(id) && input.includes('"SET ')],
  ])("a message that is sent before the message count of its conversation is %s is also counted", async (_, nth, isOne) => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    await updateConversation(account, { id: ada.whatsapp, status: "active" });
    await put({ ...(await readItem(keys.conversationKey(account, ada.whatsapp))), messageCount: 9 });
    let sent: Promise<unknown> | undefined;
    let calls = 0;
    {
      using _ = beforeCall(
        ({ input }) => isOne(JSON.stringify(input), ada.whatsapp) && ++calls === nth,
        () => (sent = aMessage(account, ada.id)),
      );
      await replace(account, from);
    }
    expect(await sent).toBeDefined();
    const { conversations } = await expectConsistent(account);
    expect(conversations.find(({ id }) => id === ada.whatsapp)).toMatchObject({ messageCount: 3 });
  });

  test.each([
    ["conversation", { status: "paused" }, { leadId: "lead_1" }, 2],
    ["lead", { score: 5 }, { externalId: "crm-2" }, 1],
  ])("a %s that changes between the read and the write is read again before it is replaced", async (type, changed, meanwhile, left) => {
    const { account, ada, from } = await anAccount();
    const key = type === "lead" ? keys.leadKey(account, ada.id) : keys.conversationKey(account, ada.email);
    const change = async (fields: Item) => put(withFields((await readItem(key)) ?? {}, fields));
    await change(changed);
    using _ = beforeCall(
      ({ input }) => JSON.stringify(input).includes("#set0") && JSON.stringify(input).includes(key.sk),
      () => change(meanwhile),
    );
    // It stays, because the second read finds that a field differs which never changes.
    expect((await replace(account, from)).output).toMatchObject({ replaced: 0, left });
    expect(fieldsOf((await readItem(key)) ?? {})).toMatchObject(meanwhile);
  });

  test("an item that appears between the read and the write stays as it is", async () => {
    const { account, ada, from, before } = await anAccount();
    const [message = {}] = messagesIn(before, ada.email);
    await remove(message);
    using _ = beforeCall(
      stores(({ sk }) => sk === message.sk),
      () => put({ ...message, message: "Another" }),
    );
    expect(await replace(account, from)).toMatchObject({ code: 3, output: { stored: 0, left: 1 } });
    expect(await readItem(message as Item & Key)).toMatchObject({ message: "Another" });
  });

  test("a conversation is restored as closed while a newer one is active, and becomes active again after that one has ended", async () => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    const { conversationId: newer } = await aMessage(account, ada.id);
    await remove(keys.conversationKey(account, ada.whatsapp));
    await replace(account, from);
    await expectConsistent(account);
    const statuses = async () => [await statusOf(account, ada.whatsapp), await statusOf(account, newer)];
    expect(await statuses()).toEqual(["closed", "active"]);
    expect((await replace(account, from)).output).toMatchObject({ stored: 0, replaced: 0 });
    await close(account, newer);
    await replace(account, from);
    await expectConsistent(account);
    expect(await statuses()).toEqual(["active", "closed"]);
    expect((await aMessage(account, ada.id)).conversationId).toBe(ada.whatsapp);
  });

  test("the older of two conversations becomes active again, although the newer one holds the lock", async () => {
    const { account, ada } = await aFilledAccount();
    const { conversationId: newer } = await ago(hour - 1000, async () => {
      await close(account, ada.whatsapp);
      return aMessage(account, ada.id);
    });
    const activate = async (id: string, ended: string) => {
      await close(account, ended);
      await updateConversation(account, { id, status: "active" });
    };
    await activate(ada.whatsapp, newer);
    const from = copyTable();
    const before = restoredItems(await tableItems(), account);
    await activate(newer, ada.whatsapp);
    expect((await replace(account, from)).output).toMatchObject({ stored: 0, replaced: 2 });
    expect((await expectConsistent(account)).items).toEqual(before);
  });
});

test("a copy is refused if its source has another data format, does not have the account or does not exist", async () => {
  const { account, from } = await anAccount();
  const before = await tableItems();
  tagTable(from, dataFormat + 1);
  const failures = [await copy(account, from)];
  tagTable(from, dataFormat);
  failures.push(await copy("nobody", from), await copy(account, "none"), await copy(account, tableName));
  failures.push(await copy(account, "none", "--from-region", "eu-north-1"));
  expect(failures.map(({ failure }) => failure)).toEqual([
    expect.stringContaining(`The table ${from} has the data format ${dataFormat + 1}, but`),
    expect.stringContaining(`The table ${from} has nothing of the account nobody.`),
    expect.stringContaining("There is no table none in the region"),
    expect.stringContaining("The account would be copied onto itself"),
    expect.stringContaining("There is no table none in the region eu-north-1"),
  ]);
  expect(await tableItems()).toEqual(before);
});

test("a copy counts the messages of a conversation whatever its item states, and leaves out a conversation without messages", async () => {
  const { account, grace } = await aFilledAccount();
  const conversation = (await readItem(keys.conversationKey(account, grace.email))) ?? {};
  const spoiled = { messageCount: NumberValue.from("1e125"), lastMessage: 5, awaitingReplySince: "5" };
  await put({ ...conversation, ...spoiled, activeAt: "5", lastInboundAt: "5", other: "x" });
  const empty = newId("conv", Date.now() - 5000);
  await put({ ...conversation, ...keys.conversationKey(account, empty), id: empty });
  const to = randomUUID();
  const { output } = await copy(account, tableName, "--to-account", to);
  expect(output.invalid).toMatchObject([{ sk: empty, reason: "its messageCount is invalid" }]);
  const copied = await readItem(keys.conversationKey(to, grace.email));
  expect(copied).not.toHaveProperty("other");
  await expectConsistent(to);
  // Also if the target has the wrong values.
  await put({ ...copied, ...spoiled, activeAt: "2026-01-01T00:00:00.000Z" });
  expect((await copy(account, tableName, "--to-account", to)).failure).toBeUndefined();
  await expectConsistent(to);
});

describe("a conversation that waits for a reply", () => {
  const reply = (account: string, leadId: string, channel?: string) =>
    aMessage(account, leadId, channel, { direction: "inbound" });

  /** The conversations of an account, and the times since which some of them wait. */
  async function read(account: string) {
    await expectConsistent(account);
    const rows = (await call("list-conversations", { account })).body.data;
    return { rows, since: rows.flatMap(({ awaitingReplySince }) => awaitingReplySince ?? []) };
  }

  test("waits since the first inbound message after the backup", async () => {
    const { account, ada, grace, from } = await anAccount();
    const sent = [await reply(account, ada.id), await reply(account, grace.id, "email")];
    const before = await read(account);
    expect(before.since.sort()).toEqual(sent.map(({ createdAt }) => createdAt));
    // This conversation is read from the backup, with the messages that are stored.
    await remove(keys.conversationKey(account, ada.whatsapp));
    expect((await replace(account, from)).output).toMatchObject({ stored: 1, replaced: 0 });
    expect((await read(account)).rows).toEqual(before.rows);
  });

  test("does not wait if it is closed while a copy counts its messages, or in the source before the last inbound message", async () => {
    const { account, ada } = await aFilledAccount();
    const key = keys.conversationKey(account, ada.whatsapp);
    await close(account, ada.whatsapp);
    const from = copyTable();
    await updateConversation(account, { id: ada.whatsapp, status: "active" });
    await reply(account, ada.id);
    const { awaitingReplySince, ...uncounted } = (await readItem(key)) ?? {};
    await put({ ...uncounted, messageCount: 9 });
    {
      using _ = beforeCall(
        ({ input }) => JSON.stringify(input).includes(ada.whatsapp) && "UpdateExpression" in input,
        () => close(account, ada.whatsapp),
      );
      await copy(account, from);
    }
    expect((await read(account)).since).toEqual([]);
    await put({ ...uncounted, awaitingReplySince });
    expect((await replace(account, from)).output).toMatchObject({ replaced: 1 });
    expect((await read(account)).since).toEqual([]);
  });

  test("waits as in the source after a copy with --replace, whichever of both was closed or reopened", async () => {
    const { account, ada } = await aFilledAccount();
    const { createdAt } = await reply(account, ada.id);
    const to = randomUUID();
    await copy(account, tableName, "--to-account", to);
    for (const [changed, status, since] of [
      [to, "closed", [createdAt]],
      [account, "closed", []],
      [account, "active", []],
    ] as const) {
      await updateConversation(changed, { id: ada.whatsapp, status });
      const before = await read(to);
      await copy(account, tableName, "--to-account", to);
      expect(await read(to)).toEqual(before);
      const { output } = await replace(account, tableName, "--to-account", to);
      expect(output).toMatchObject({ replaced: 1 });
      expect(await read(to)).toEqual({ ...(await read(account)), since });
    }
  });
});

describe("an item that contradicts what is stored is reported and left out", () => {
  type Data = Awaited<ReturnType<typeof anAccount>>;

  const nameTaken = /^the lead lead_\w+ has its externalId or an address of it$/;

  /** Moves a conversation and its messages to another lead, in the source. */
  async function move({ ada, grace, from, before }: Data) {
    for (const item of Object.values(before).filter(({ leadId }) => leadId === ada.id))
      if ([item.id, item.conversationId].includes(ada.email)) await put({ ...item, leadId: grace.id }, from);
  }

  type Case = [what: string, arrange: (data: Data) => Promise<unknown>, reasons: (string | RegExp)[]];

  test.each<Case>([
    [
      "a conversation under another lead, with its messages",
      move,
      ["its leadId is not the stored one", "its conversation is left out"],
    ],
    [
      "a conversation on another channel",
      async ({ account, grace }) => {
        const stored = await readItem(keys.conversationKey(account, grace.email));
        await put({ ...stored, channel: "other" });
      },
      ["its channel is not the stored one", "its conversation is left out"],
    ],
    ...["direction", "message"].map(
      (field): Case => [
        `a message with another ${field}`,
        async ({ ada, from, before }) => {
          const [message] = messagesIn(before, ada.email);
          await put({ ...message, [field]: "inbound" }, from);
        },
        [`its ${field} is not the stored one`],
      ],
    ),
    [
      "a conversation that is not stored, but has stored messages of another lead",
      async (data) => {
        await move(data);
        await remove(keys.conversationKey(data.account, data.ada.email));
      },
      ["its stored messages are of another lead or channel", "its conversation is left out"],
    ],
    [
      "a lead whose address another lead has by now",
      async ({ account, ada }) => {
        const query = "ifExists=update";
        await call("create-lead", { account, query, body: { id: ada.id, addresses: { whatsapp: null } } });
        await aLead(account, { addresses: { whatsapp: ["491771"] } });
      },
      [nameTaken],
    ],
    [
      "a lead whose external id another lead has, with its conversations",
      async ({ account, ada }) => {
        for (const key of [keys.leadKey(account, ada.id), keys.externalIdKey(account, "crm-ada")])
          await remove(key);
        await aLead(account, { externalId: "crm-ada" });
      },
      [nameTaken, "its lead is not in this table: run the command again", "its conversation is left out"],
    ],
    [
      "a lead that is stored with another external id",
      async ({ account, ada, from, before }) =>
        put(withFields(before[`LEAD#${account} ${ada.id}`] ?? {}, { externalId: "crm-2" }), from),
      ["its externalId is not the stored one"],
    ],
    [
      "a lead with more addresses than one transaction can store",
      async ({ account, ada, from, before }) => {
        const ten = Array.from({ length: 10 }, (_, n) => `a${n}`);
        const addresses = Object.fromEntries(ten.map((channel) => [channel, ten]));
        await put({ ...before[`LEAD#${account} ${ada.id}`], addresses }, from);
      },
      ["it has too many addresses"],
    ],
  ])("%s", async (_, arrange, reasons) => {
    const data = await anAccount();
    await arrange(data);
    const before = await tableItems();
    const dryRun = await replace(data.account, data.from, "--dry-run");
    const { code, output, printed } = await replace(data.account, data.from);
    expect(code).toBe(3);
    expect(printed).toContain("These items were left out:\n");
    expect(dryRun.output).toEqual(output);
    expect(output.left).toBe(output.invalid.length);
    const found = new Set(output.invalid.map(({ reason }: { reason: string }) => reason));
    expect([...found]).toEqual(reasons.map((reason) => expect.stringMatching(reason)));
    expect(await tableItems()).toEqual(before);
  });

  test("a conversation that is not valid is left out with its messages", async () => {
    const { account, ada, from, before } = await anAccount();
    await put({ ...before[`CONVERSATION#${account} ${ada.email}`], status: "" }, from);
    const { output } = await replace(account, from);
    const reasons = output.invalid.map(({ reason }: { reason: string }) => reason);
    expect(reasons).toEqual(["its status is invalid", "its conversation is left out"]);
  });

  test("messages of another lead or channel than their conversation are not copied", async () => {
    const { account, ada, grace, from, before } = await anAccount();
    const ofAda = messagesIn(before, ada.whatsapp);
    for (const item of ofAda) await remove(item);
    await put({ ...ofAda[0], leadId: grace.id }, from);
    await put({ ...ofAda[1], channel: "sms" }, from);
    const { code, output } = await replace(account, from);
    expect({ code, stored: output.stored }).toEqual({ code: 3, stored: 0 });
    const noted = output.invalid.map(({ sk }: Item) => sk);
    expect(noted).toEqual(expect.arrayContaining(ofAda.map(({ sk }) => sk)));
  });
});

test("nothing is copied of a lead that was erased in the source, even if it has conversations, and the erasure is noted", async () => {
  const { account, ada, from } = await anAccount();
  const erased = {
    ...keys.erasedLeadKey(account, ada.id),
    leadId: ada.id,
    id: newId("erasure"),
    pending: true,
  };
  await put(erased, from);
  const to = randomUUID();
  expect((await copy(account, from, "--to-account", to)).output).toMatchObject({ erased: 6, stored: 7 });
  const { pending: _, ...noted } = erased;
  expect(await readItem(keys.erasedLeadKey(to, ada.id))).toEqual({
    ...{ ...noted, ...keys.erasedLeadKey(to, ada.id), imported: expect.any(String) },
  });
  expect((await expectConsistent(to)).leads).toEqual(new Set([expect.any(String)]));
  // A lead that exists in the target stays: only `leads erase` erases a lead.
  const before = restoredItems(await tableItems(), account);
  expect((await replace(account, from)).output).toMatchObject({ erased: 6, stored: 0 });
  expect(restoredItems(await tableItems(), account)).toEqual(before);
  expect(await readItem(keys.erasedLeadKey(account, ada.id))).toBeUndefined();
  expect(await readItem(keys.leadKey(account, ada.id))).toBeDefined();
});
