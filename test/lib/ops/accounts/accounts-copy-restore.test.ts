import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversations-command.ts";
import { dataFormat } from "../../../../shared/dynamodb/data-format.ts";
import {
  accountLimitKey,
  activeConversationKey,
  conversationKey,
  externalIdKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { beforeCall } from "../../../support/conditions.ts";
import { copyTable, tagTable, useMemoryTables } from "../../../support/memory-tables.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { put, remove, tableItems } from "../../../support/table-items.ts";
import { copy, replace } from "./support/copy.ts";
import {
  aFilledAccount,
  ago,
  anAccount,
  close,
  expectConsistent,
  hour,
  restoredItems,
} from "./support/restored-account.ts";

const memory = useMemoryTables();

const statusOf = async (account: string, id: string) =>
  (await call("list-conversations", { account, query: `id=${id}` })).body.data[0]?.status;

/** What came back of such an account: a lead, a conversation and a message were deleted, two items changed. */
const restored = { stored: 3, replaced: 2, erased: 0 };

describe("an account is copied from a table that was restored without indexes", () => {
  test("what was deleted or changed is back, nothing is deleted, and a spoiled text is named and stays", async () => {
    const { account, ada, grace, from, before } = await anAccount();
    const messages = Object.values(before).filter(
      ({ pk, conversationId }) => String(pk).startsWith("MESSAGE") && conversationId === grace.whatsapp,
    );
    const [lost = {}, { pk, sk, ...message } = {}] = messages;
    const spoiledKey = { pk, sk };
    for (const key of [leadKey(account, ada.id), conversationKey(account, ada.whatsapp), lost])
      await remove(key);
    await remove(activeConversationKey(account, grace.id, "email"));
    const { byParent, ...lead } = before[`LEAD#${account} ${grace.id}`] ?? {};
    // In an hour, the table would delete it.
    await put({ ...lead, status: "booked", note: "x", expiresAt: Math.ceil(Date.now() / 1000) + 3600 });
    await close(account, ada.email);
    await put({ ...message, ...spoiledKey, message: "Spoiled" });
    const added = await aMessage(account, (await aLead(account)).id);
    const other = await aFilledAccount();
    const spoiled = await tableItems();
    const start = memory.snapshot();
    // Without --replace, what was changed stays.
    expect((await copy(account, from)).output).toMatchObject({ ...restored, replaced: 0 });
    const half = restoredItems(await tableItems(), account);
    expect(half).toMatchObject(restoredItems(spoiled, account));
    expect(half[`LEAD#${account} ${grace.id}`]).toHaveProperty("status", "booked");
    memory.restore(start);
    expect((await replace(account, from, "--dry-run")).output).toMatchObject(restored);
    expect(await tableItems()).toEqual(spoiled);
    const outcome = await replace(account, from);
    expect(outcome).toMatchObject({ code: 3, failure: undefined, output: { ...restored, left: 1 } });
    expect(outcome.output.leftOut).toEqual([
      { type: "message", ...spoiledKey, reason: "its message is not the stored one" },
    ]);
    expect(outcome.printed).toContain("These items do not fit what is stored and were left out:\n");
    const name = `${spoiledKey.pk} ${spoiledKey.sk}`;
    const after = await tableItems();
    expect(after.get(name)).toEqual(spoiled.get(name));
    expect([...spoiled.keys()].filter((key) => !after.has(key))).toEqual([]);
    expect(restoredItems(after, other.account)).toEqual(restoredItems(spoiled, other.account));
    expect(await replace(account, from)).toMatchObject({
      code: 3,
      output: { stored: 0, replaced: 0, left: 1 },
    });
    expect(await tableItems()).toEqual(after);

    await remove(spoiledKey);
    expect(await replace(account, from)).toMatchObject({ code: 0, output: { stored: 1, left: 0 } });
    const { items } = await expectConsistent(account);
    for (const [key, item] of Object.entries(before)) {
      const { imported, ...found } = items[key] ?? {};
      expect(found).toEqual(item);
    }
    expect(Object.keys(items)).toContain(`MESSAGE#${account}#${added.conversationId} ${added.id}`);
  });

  test("an account gets its rate limit back, but keeps one that was set since", async () => {
    const account = randomUUID();
    const key = accountLimitKey(account);
    await put({ ...key, requests: 100 });
    const from = copyTable();
    await put({ ...key, requests: 200 });
    await replace(account, from);
    expect(await readItem(key)).toMatchObject({ requests: 200 });
    await remove(key);
    await replace(account, from);
    expect(await readItem(key)).toMatchObject({ requests: 100 });
  });

  test("an external id whose item is missing beside its lead is stored again", async () => {
    const { account, ada, from } = await anAccount();
    await remove(externalIdKey(account, "crm-ada"));
    expect((await replace(account, from)).output).toMatchObject({ stored: 0, replaced: 0 });
    expect(await readItem(externalIdKey(account, "crm-ada"))).toMatchObject({ leadId: ada.id });
  });

  test("messages are counted, also those that were sent since", async () => {
    const { account, ada, grace, from } = await anAccount();
    const joined = await aMessage(account, grace.id);
    await remove(conversationKey(account, grace.whatsapp));
    await remove(conversationKey(account, ada.email));
    await replace(account, from);
    const { items } = await expectConsistent(account);
    expect(items[`CONVERSATION#${account} ${grace.whatsapp}`]).toMatchObject({
      ...{ messageCount: 3, lastMessageAt: joined.createdAt, status: "active" },
    });
  });

  test.each([
    ["read", (input: string, id: string) => input.includes(`#${id}"`) && input.includes('"sk"')],
    ["written", (input: string, id: string) => input.includes(id) && input.includes('"SET ')],
  ])("a message that is sent before the number of its conversation is %s is counted, too", async (_, isNext) => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    await setConversationStatus(account, ada.whatsapp, "active");
    await put({ ...(await readItem(conversationKey(account, ada.whatsapp))), messageCount: 9 });
    let sent: Promise<unknown> | undefined;
    {
      using _ = beforeCall(
        ({ input }) => isNext(JSON.stringify(input), ada.whatsapp),
        () => (sent = aMessage(account, ada.id)),
      );
      await replace(account, from);
    }
    expect(await sent).toBeDefined();
    const { conversations } = await expectConsistent(account);
    expect(conversations.find(({ id }) => id === ada.whatsapp)).toMatchObject({ messageCount: 3 });
  });

  test("a change that comes between the read and the write is not overwritten unseen", async () => {
    const { account, grace, from, before } = await anAccount();
    await setConversationStatus(account, grace.email, "paused");
    const paused = await readItem(conversationKey(account, grace.email));
    const name = `CONVERSATION#${account} ${grace.email}`;
    const isUpdate = (input: object) =>
      JSON.stringify(input).includes("#set0") && JSON.stringify(input).includes(grace.email);
    {
      // It stays: the conversation that is read again is of another lead.
      using _ = beforeCall(
        ({ input }) => isUpdate(input),
        () => put({ ...paused, leadId: "lead_1" }),
      );
      expect((await replace(account, from)).output).toMatchObject({ replaced: 0, left: 2 });
      expect(await readItem(conversationKey(account, grace.email))).toMatchObject({ leadId: "lead_1" });
    }
    await put({ ...before[name], status: "paused" });
    using _ = beforeCall(
      ({ input }) => isUpdate(input),
      () => put({ ...before[name], status: "stopped", note: "x" }),
    );
    expect((await replace(account, from)).output).toMatchObject({ replaced: 1, left: 0 });
    expect(restoredItems(await tableItems(), account)).toEqual(before);
  });

  test("an item that appears between the read and the write stays as it is", async () => {
    const { account, ada, from, before } = await anAccount();
    const key = messageKey(account, ada.email, "");
    const name = Object.keys(before).find((each) => each.startsWith(key.pk)) ?? "";
    await remove(before[name] ?? {});
    using _ = beforeCall(
      ({ input }) => input.Item?.sk === before[name]?.sk,
      () => put({ ...before[name], message: "Another" }),
    );
    expect(await replace(account, from)).toMatchObject({ code: 3, output: { stored: 0, left: 1 } });
    expect((await tableItems()).get(name)).toMatchObject({ message: "Another" });
  });

  test("a conversation is closed if a newer one is active in its place, and active again if that one has ended", async () => {
    const { account, ada, from } = await anAccount();
    await close(account, ada.whatsapp);
    const { conversationId: newer } = await aMessage(account, ada.id);
    await remove(conversationKey(account, ada.whatsapp));
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

  test.each([
    "older",
    "newer",
  ])("the %s of two conversations is active again, whichever holds the lock", async (which) => {
    const { account, ada } = await aFilledAccount();
    const { conversationId: second } = await ago(hour - 1000, async () => {
      await close(account, ada.whatsapp);
      return aMessage(account, ada.id);
    });
    const [wanted, other] = which === "newer" ? [second, ada.whatsapp] : [ada.whatsapp, second];
    const activate = async (id: string, ended: string) => {
      await close(account, ended);
      await setConversationStatus(account, id, "active");
    };
    await activate(wanted, other);
    const from = copyTable();
    const before = restoredItems(await tableItems(), account);
    await activate(other, wanted);
    expect((await replace(account, from)).output).toMatchObject({ stored: 0, replaced: 2 });
    expect((await expectConsistent(account)).items).toEqual(before);
  });
});

test("a table of another data format, without the account or that does not exist is refused", async () => {
  const { account, from } = await anAccount();
  const before = await tableItems();
  tagTable(from, dataFormat + 1);
  const failures = [await copy(account, from)];
  tagTable(from, dataFormat);
  failures.push(await copy("nobody", from), await copy(account, "none"), await copy(account, tableName));
  expect(failures.map(({ failure }) => failure)).toEqual([
    expect.stringContaining(`The table ${from} has the data format ${dataFormat + 1}, but`),
    expect.stringContaining(`The table ${from} has nothing of the account nobody.`),
    expect.stringContaining("There is no table none in the region"),
    expect.stringContaining(`The account ${account} would be copied onto itself`),
  ]);
  expect(await tableItems()).toEqual(before);
});
