import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversation-status.ts";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { accountLimitKey, activeConversationKey, conversationKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { readItem, selectTable, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { beforeCall } from "../../../support/conditions.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { put, remove, tableItems } from "../../../support/table-items.ts";
import { program } from "../support/program.ts";
import { accounts, exported, replace } from "./support/restore.ts";
import { expectConsistent, restoredItems } from "./support/restored-items.ts";
import { aFilledAccount, ago, anAccount, close, hour, spoil } from "./support/spoiled-account.ts";

// While a test is in the past, the SDK takes each error for one of the clock, which it corrects before it tries again.
beforeEach(() => selectTable(tableName, { maxAttempts: 1 }));

const statusOf = async (account: string, id: string) =>
  (await call("list-conversations", { account, query: `id=${id}` })).body.data[0]?.status;

/** What came back of the account of `spoil`: a lead, a conversation and a message were deleted, three items changed. */
const restoredLines = { imported: 3, replaced: 3, erased: 0 };

describe("a restored copy of the table that is exported, and imported into the account", () => {
  test("brings back what was deleted or changed, and deletes nothing", async () => {
    const data = await anAccount();
    const { account, from, before } = data;
    await spoil(data);
    const added = await aMessage(account, (await aLead(account)).id);
    const other = await aFilledAccount();
    const spoiled = await tableItems();
    const path = await exported(account, from);
    expect((await replace(account, path)).output).toMatchObject(restoredLines);
    const after = await tableItems();
    const items = restoredItems(after, account);
    for (const [key, item] of Object.entries(before)) {
      const { imported, ...found } = items[key] ?? {};
      expect(found).toEqual(item);
    }
    await expectConsistent(account);
    expect([...spoiled.keys()].filter((key) => !after.has(key))).toEqual([]);
    expect(Object.keys(items)).toContain(`MESSAGE#${account}#${added.conversationId} ${added.id}`);
    expect(restoredItems(after, other.account)).toEqual(restoredItems(spoiled, other.account));
    expect((await replace(account, path)).output).toMatchObject({ imported: 0, replaced: 0, erased: 0 });
    expect(await tableItems()).toEqual(after);
  });

  test("gives an account its rate limit back, but keeps one that was set since", async () => {
    const account = randomUUID();
    const key = accountLimitKey(account);
    await put({ ...key, requests: 100 });
    const path = await exported(account);
    await put({ ...key, requests: 200 });
    await replace(account, path);
    expect(await readItem(key)).toMatchObject({ requests: 200 });
    await remove(key);
    await replace(account, path);
    expect(await readItem(key)).toMatchObject({ requests: 100 });
  });

  test("without --replace stores what is absent, and keeps what was changed", async () => {
    const data = await anAccount();
    await spoil(data);
    const spoiled = restoredItems(await tableItems(), data.account);
    const path = await exported(data.account, data.from);
    const { output } = await accounts("import", path, "--account", data.account);
    expect(output).toMatchObject({ ...restoredLines, replaced: 0 });
    const items = restoredItems(await tableItems(), data.account);
    expect(items).toMatchObject(spoiled);
    expect(items[`LEAD#${data.account} ${data.grace.id}`]).toHaveProperty("status", "booked");
  });

  test("counts the messages of conversations, also those that were sent since", async () => {
    const data = await anAccount();
    const { account, ada, grace, from } = data;
    const path = await exported(account, from);
    const joined = await aMessage(account, grace.id);
    await remove(conversationKey(account, grace.whatsapp));
    await remove(conversationKey(account, ada.email));
    await replace(account, path);
    const { items } = await expectConsistent(account);
    expect(items[`CONVERSATION#${account} ${grace.whatsapp}`]).toMatchObject({
      ...{ messageCount: 3, lastMessageAt: joined.createdAt, status: "active" },
    });
  });

  test.each([
    ["read", (input: string, id: string) => input.includes(`#${id}"`) && input.includes("MESSAGE#")],
    ["written", (input: string, id: string) => input.includes(id) && input.includes('"SET ')],
  ])("a message that is sent before the number of its conversation is %s is counted, too", async (_, isNext) => {
    const { account, ada, from } = await anAccount();
    const path = await exported(account, from);
    await close(account, ada.whatsapp);
    await setConversationStatus(account, ada.whatsapp, "active", Date.now() + 10_000);
    await remove(conversationKey(account, ada.email));
    await put({ ...(await readItem(conversationKey(account, ada.whatsapp))), messageCount: 9 });
    {
      using _ = beforeCall(
        ({ input }) => isNext(JSON.stringify(input), ada.whatsapp),
        () => aMessage(account, ada.id),
      );
      await replace(account, path);
    }
    const { conversations } = await expectConsistent(account);
    expect(conversations.find(({ id }) => id === ada.whatsapp)).toMatchObject({ messageCount: 3 });
  });

  test("a change that comes between its reads and its writes is not overwritten unseen", async () => {
    const { account, grace, from, before } = await anAccount();
    const path = await exported(account, from);
    await setConversationStatus(account, grace.email, "paused", Date.now() + 10_000);
    const name = `CONVERSATION#${account} ${grace.email}`;
    using _ = beforeCall(
      ({ input }) => JSON.stringify(input).includes("#set0") && JSON.stringify(input).includes(grace.email),
      () => put({ ...before[name], status: "paused", channel: "sms" }),
    );
    const { output } = await replace(account, path);
    expect(output).toMatchObject({ replaced: 1 });
    expect(restoredItems(await tableItems(), account)).toEqual(before);
  });

  test("a conversation is closed if a newer one is active in its place, and active again if that one has ended", async () => {
    const { account, ada, from } = await anAccount();
    const path = await exported(account, from);
    await close(account, ada.whatsapp);
    const { conversationId: newer } = await aMessage(account, ada.id);
    await remove(conversationKey(account, ada.whatsapp));
    await replace(account, path);
    await expectConsistent(account);
    const statuses = async () => [await statusOf(account, ada.whatsapp), await statusOf(account, newer)];
    expect(await statuses()).toEqual(["closed", "active"]);
    expect((await replace(account, path)).output).toMatchObject({ imported: 0, replaced: 0 });
    await close(account, newer);
    await replace(account, path);
    await expectConsistent(account);
    expect(await statuses()).toEqual(["active", "closed"]);
    expect((await aMessage(account, ada.id)).conversationId).toBe(ada.whatsapp);
  });

  test.each([
    "older",
    "newer",
  ])("the %s of two conversations is active again, whichever holds the pointer", async (which) => {
    const { account, ada } = await aFilledAccount();
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
    const path = await exported(account, await copyTable());
    const before = restoredItems(await tableItems(), account);
    await activate(other, wanted);
    expect((await replace(account, path)).output).toMatchObject({ imported: 0, replaced: 2 });
    expect((await expectConsistent(account)).items).toEqual(before);
  });

  test("a lead that is erased in the file but not here stays", async () => {
    const [from, to] = [await aFilledAccount(), randomUUID()];
    await accounts("import", await exported(from.account), "--account", to, "--rename");
    await beginErasure(from.account, from.ada.id, new Pace());
    const path = await exported(from.account);
    await replace(to, path, "--rename");
    expect((await expectConsistent(to)).leads).toContain(from.ada.id);
    expect((await aLead(to)).id).toBeDefined();
  });

  test("asks before it replaces one line, and --dry-run says the same", async () => {
    const data = await anAccount();
    const [lead] = [...(await tableItems()).values()].filter(({ pk }) => pk === `LEAD#${data.account}`);
    await put({ ...lead, name: "Spoiled" });
    const path = await exported(data.account, data.from);
    const before = await tableItems();
    const args = ["import", path, "--account", data.account, "--replace"];
    const outcome = await program(["accounts", ...args, "--table", tableName], { input: "acme\n" });
    expect(outcome).toEqual({
      ...{ code: 1, stdout: "" },
      stderr: [
        "12 lines: 0 would be imported, 1 would be replaced, 11 already there, 0 of erased leads.",
        "This cannot be undone. Type the name of the account to replace them: That is not the name of the account: nothing was changed. Scripts use --yes.\n",
      ].join("\n"),
    });
    expect((await accounts(...args, "--dry-run")).output).toMatchObject({ imported: 0, replaced: 1 });
    expect(await tableItems()).toEqual(before);
  });
});

test.each([
  {},
  { conversationId: 5 },
  { conversationId: "x".repeat(2000) },
])("an import replaces a pointer with %j", async (fields) => {
  const { account, ada } = await aFilledAccount();
  const path = await exported(account);
  await put({ ...activeConversationKey(account, ada.id, "whatsapp"), ...fields });
  expect((await replace(account, path)).failure).toBeUndefined();
  await expectConsistent(account);
});

test("an import stores a conversation as active, though its pointer names that of another lead", async () => {
  const { account, ada, grace } = await aFilledAccount();
  const path = await exported(account);
  const before = restoredItems(await tableItems(), account);
  await remove(conversationKey(account, ada.whatsapp));
  await put({ ...activeConversationKey(account, ada.id, "whatsapp"), conversationId: grace.whatsapp });
  expect((await accounts("import", path, "--account", account)).failure).toBeUndefined();
  const name = `CONVERSATION#${account} ${ada.whatsapp}`;
  expect(restoredItems(await tableItems(), account)).toEqual({
    ...before,
    [name]: { ...before[name], imported: expect.any(String) },
  });
});
