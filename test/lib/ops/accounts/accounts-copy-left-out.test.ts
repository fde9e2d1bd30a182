import { randomUUID } from "node:crypto";
import { NumberValue, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import {
  conversationKey,
  erasedLeadKey,
  externalIdKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { type Item, readItem, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { useMemoryTables } from "../../../support/memory-tables.ts";
import { aLead } from "../../../support/requests.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { put, remove, tableItems } from "../../../support/table-items.ts";
import { copy, replace } from "./support/copy.ts";
import { aFilledAccount, anAccount, expectConsistent, restoredItems } from "./support/restored-account.ts";

useMemoryTables();

// How long a copy waits for late writes of erased leads is another test's.
skipWaits();

test("a conversation has the number of its messages, whatever its item says, and none without a message", async () => {
  const { account, grace } = await aFilledAccount();
  const conversation = (await readItem(conversationKey(account, grace.email))) ?? {};
  await put({ ...conversation, messageCount: NumberValue.from("1e125"), lastMessageAt: "5", other: "x" });
  const empty = newId("conv", Date.now() - 5000);
  await put({ ...conversation, ...conversationKey(account, empty), id: empty });
  const to = randomUUID();
  const { output } = await copy(account, tableName, "--to-account", to);
  expect(output.invalid).toMatchObject([{ sk: empty, reason: "its messageCount is invalid" }]);
  const copied = await readItem(conversationKey(to, grace.email));
  expect(copied).not.toHaveProperty("other");
  await expectConsistent(to);
  // Also where it is stored so.
  await put({ ...copied, messageCount: NumberValue.from("1e125") });
  expect((await copy(account, tableName, "--to-account", to)).failure).toBeUndefined();
  await expectConsistent(to);
});

/** Writes to the table that is copied from. */
const putInto = (TableName: string, Item: object) =>
  table.send(new PutCommand({ TableName, Item: { ...Item } }));

describe("what does not fit what is stored is named and left", () => {
  type Data = Awaited<ReturnType<typeof anAccount>>;

  /** Moves a conversation and its messages to another lead, in the source. */
  async function move({ ada, grace, from, before }: Data) {
    for (const item of Object.values(before).filter(({ leadId }) => leadId === ada.id))
      if ([item.id, item.conversationId].includes(ada.email))
        await putInto(from, { ...item, leadId: grace.id });
  }

  test.each<[what: string, arrange: (data: Data) => Promise<unknown>, reasons: (string | RegExp)[]]>([
    [
      "a conversation under another lead, which takes no message with it",
      move,
      ["its leadId is not the stored one", "its conversation is left"],
    ],
    [
      "its stored messages, if the conversation itself is not stored",
      async (data) => {
        await move(data);
        await remove(conversationKey(data.account, data.ada.email));
      },
      ["its stored messages are of another lead or channel", "its conversation is left"],
    ],
    [
      "a lead whose external id another lead has by now, with its conversations",
      async ({ account, ada }) => {
        for (const key of [leadKey(account, ada.id), externalIdKey(account, "crm-ada")]) await remove(key);
        await aLead(account, { externalId: "crm-ada" });
      },
      [/^the lead lead_\w+ has its externalId$/, "its lead does not exist", "its conversation is left"],
    ],
    [
      "a lead that has another external id itself",
      async ({ account, grace, from, before }) => {
        const item = before[`LEAD#${account} ${grace.id}`] ?? {};
        await putInto(from, { ...item, details: { ...Object(item.details), externalId: "crm-grace" } });
      },
      ["its externalId is not the stored one"],
    ],
  ])("%s", async (_, arrange, reasons) => {
    const data = await anAccount();
    await arrange(data);
    const before = await tableItems();
    const { code, output } = await replace(data.account, data.from);
    expect(code).toBe(3);
    expect(output.left).toBe(output.leftOut.length);
    const found = new Set(output.leftOut.map(({ reason }: { reason: string }) => reason));
    expect([...found]).toEqual(reasons.map((reason) => expect.stringMatching(reason)));
    expect(await tableItems()).toEqual(before);
  });

  test("messages of another lead or channel than their conversation are not copied", async () => {
    const { account, ada, grace, from, before } = await anAccount();
    const ofAda = Object.values(before).filter(
      ({ conversationId, id }) => id && conversationId === ada.whatsapp,
    );
    for (const item of ofAda) await remove(item);
    await putInto(from, { ...ofAda[0], leadId: grace.id });
    await putInto(from, { ...ofAda[1], channel: "sms" });
    const { code, output } = await replace(account, from);
    expect({ code, stored: output.stored }).toEqual({ code: 3, stored: 0 });
    const keys = output.invalid.map(({ sk }: Item) => sk);
    expect(keys).toEqual(expect.arrayContaining(ofAda.map(({ sk }) => sk)));
  });

  test("a conversation of a lead that does not exist, such as one of another account, and a dry run says so", async () => {
    const [{ account, ada, from }, other] = [await anAccount(), await aFilledAccount()];
    const id = newId("conv", Date.now() - 5000);
    const item = await readItem(conversationKey(account, ada.email));
    const message = newId("msg", Date.now() - 4000);
    const foreign = { leadId: other.ada.id, channel: "email" };
    await putInto(from, { ...item, ...conversationKey(account, id), id, ...foreign });
    await putInto(from, {
      ...{ ...messageKey(account, id, message), id: message, conversationId: id, message: "Hi", ...foreign },
      createdAt: new Date(Date.now() - 4000).toISOString(),
    });
    const to = randomUUID();
    const before = await tableItems();
    const dry = await copy(account, from, "--to-account", to, "--dry-run");
    expect(await tableItems()).toEqual(before);
    const { code, output } = await copy(account, from, "--to-account", to);
    for (const each of [dry.output, output]) {
      // The time of the message is not that of its id, or it is left with its conversation.
      expect(each.invalid.length + each.left).toBe(2);
      expect(each.stored).toBe(12);
    }
    expect(code).toBe(3);
    const { items } = await expectConsistent(to);
    expect(Object.keys(items).filter((key) => key.includes(id))).toEqual([]);
  });
});

test("nothing is copied of a lead that is erased in the source, though it has its conversations, and that is noted", async () => {
  const { account, ada, from } = await anAccount();
  const erased = { ...erasedLeadKey(account, ada.id), leadId: ada.id, id: newId("erasure"), pending: true };
  await putInto(from, erased);
  const to = randomUUID();
  expect((await copy(account, from, "--to-account", to)).output).toMatchObject({ erased: 6, stored: 7 });
  const { pending: _, ...noted } = erased;
  expect(await readItem(erasedLeadKey(to, ada.id))).toEqual({
    ...{ ...noted, ...erasedLeadKey(to, ada.id), imported: expect.any(String) },
  });
  expect((await expectConsistent(to)).leads).toEqual(new Set([expect.any(String)]));
  // Who exists here stays: only `leads erase` erases a lead.
  const before = restoredItems(await tableItems(), account);
  expect((await replace(account, from)).output).toMatchObject({ erased: 6, stored: 0 });
  expect(restoredItems(await tableItems(), account)).toEqual(before);
  expect(await readItem(erasedLeadKey(account, ada.id))).toBeUndefined();
  expect(await readItem(leadKey(account, ada.id))).toBeDefined();
});
