import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { eraseCommand } from "../../../../lib/ops/leads/leads-erase.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import {
  activeConversationKey,
  conversationKey,
  erasedLeadKey,
  externalIdKey,
  idempotencyKey,
  leadConversationsPartition,
  leadEmailPartition,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import { type Key, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import { runJson } from "../../../support/command.ts";
import { useMemoryTables } from "../../../support/memory-tables.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { storedLead } from "../../../support/stored.ts";
import { compareItems, put, tableItems } from "../../../support/table-items.ts";
import { withFields } from "../../../support/with-fields.ts";
import { program } from "../support/program.ts";
import { aKnownLead, name } from "./known-lead.ts";

useMemoryTables();

const erase = (account: string, ...args: string[]) =>
  runJson(eraseCommand(), "--account", account, "--yes", ...args);

skipWaits();

/** Stores an item. @returns its name */
async function plantItem(key: Key, fields: object): Promise<string> {
  await put({ ...key, ...fields });
  return name(key);
}

/** Two leads, and items that are invalid, or that lead from the one to the other. */
async function plant(account: string) {
  const [ada, bob] = [await aKnownLead(account), await aKnownLead(account)];
  const conversationOf = ({ items }: typeof ada) =>
    items.find((item) => item.startsWith("CONVERSATION"))?.split(" ")[1] ?? "";
  const byAda = { byParent: leadConversationsPartition(account, ada.id) };
  const key = (kind: "conv" | "msg", ...path: string[]) =>
    kind === "conv"
      ? conversationKey(account, newId("conv"))
      : messageKey(account, path[0] ?? "", newId("msg"));
  const record = (ids?: unknown) => plantItem(idempotencyKey(account, "create-lead", randomUUID()), { ids });
  const lock = (channel: string, conversationId: unknown) =>
    plantItem(activeConversationKey(account, ada.id, channel), { conversationId });
  const listed = newId("conv");
  const fields = { id: listed, leadId: bob.id, channel: "fax", status: "active", messageCount: 1 };
  const misplaced = { ...conversationItem(account, { ...fields, lastMessageAt: "x" }), ...byAda };
  return {
    ada,
    bob,
    /** Found by a lock or the index, and of the other lead. */
    ofBob: [
      await plantItem(conversationKey(account, listed), misplaced),
      await plantItem(key("msg", listed), { leadId: bob.id, message: "Hi" }),
    ],
    /** Of the erased lead, though invalid, or in a conversation of the other one that a lock names. */
    ofAda: [
      await plantItem(key("msg", conversationOf(bob)), { leadId: ada.id }),
      await lock("to the other", conversationOf(bob)),
      await lock("to nothing", ""),
      await lock("to a number", 5),
      await lock("to too much", "x".repeat(2000)),
      await plantItem(key("conv"), { ...byAda, leadId: ada.id }),
      await plantItem({ ...key("conv"), sk: "ä".repeat(500) }, { ...byAda, leadId: ada.id, channel: 5 }),
    ],
    /** Whose they are cannot be read: by the index or in the partition of one of the lead's conversations. */
    invalid: [
      await plantItem(key("conv"), byAda),
      await plantItem(key("conv"), { ...byAda, leadId: 5 }),
      await plantItem(key("conv"), { ...byAda, leadId: { id: ada.id } }),
      await plantItem(key("msg", conversationOf(ada)), { message: "Hello" }),
      await plantItem(key("msg", conversationOf(ada)), { leadId: [ada.id] }),
      await plantItem(key("msg", conversationOf(ada)), { leadId: bob.id }),
      await plantItem(erasedLeadKey(account, "lead_x"), { id: "erasure_1", leadId: bob.id, pending: true }),
    ],
    /** Only a scan finds them. */
    unreadableByScan: [
      await record(),
      await record("ids"),
      await record(null),
      await record([ada.id]),
      await record({}),
      await record({ id: ada.id, conversationId: 5 }),
      await plantItem(externalIdKey(account, "crm-5"), { leadId: [ada.id] }),
      await plantItem(key("msg", "conv_gone"), { leadId: true }),
      await plantItem(leadKey(account, newId("lead")), { id: ada.id }),
    ],
    /** A message of the lead without a conversation, and an external id that it does not have. */
    ofAdaByScan: [
      await plantItem(key("msg", "conv_gone"), { leadId: ada.id }),
      await plantItem(externalIdKey(account, "crm-other"), { leadId: ada.id }),
    ],
  };
}

test.each([
  true,
  false,
])("locks, index rows and invalid items lead to nothing of another lead, are named, and stop nothing (scan: %j)", async (scan) => {
  const account = randomUUID();
  const { ada, bob, ofBob, ofAda, invalid, unreadableByScan, ofAdaByScan } = await plant(account);
  const before = await tableItems();
  const { failure, output } = await erase(account, "--lead", ada.id, ...(scan ? [] : ["--no-scan"]));
  const { added, changed, deleted } = compareItems(before, await tableItems());
  expect({ added, changed }).toEqual({ added: [name(erasedLeadKey(account, ada.id))], changed: [] });
  const found = ada.items.filter((item) => scan || !item.startsWith("IDEMPOTENCY"));
  expect(deleted).toEqual([...found, ...ofAda, ...(scan ? ofAdaByScan : [])].sort());
  const named = [...invalid, ...(scan ? unreadableByScan : [])];
  expect(output.invalid.map(name).sort()).toEqual(named.sort());
  expect(output).toMatchObject({ leads: [ada.id], idempotencyRecords: scan ? 5 : 0 });
  const more = `\nand ${named.length - 5} more\n`;
  expect(failure).toMatch(/^These items are not valid and were left as they are:\ntype +pk +sk +reason\n/);
  expect(failure).toContain(more);
  expect(failure).toMatch(/ then run the command again, for leads with --lead\.$/);
  if (!scan) return;
  const left = [...(await tableItems())].filter((entry) => JSON.stringify(entry).includes(ada.id));
  const readable = left.map(([key]) => key).filter((key) => !named.includes(key));
  // The index key of the other lead's conversation is wrong.
  expect(readable.sort()).toEqual([name(erasedLeadKey(account, ada.id)), ofBob[0]].sort());

  // The other lead is erased with what the index does not list for it.
  const { output: second } = await erase(account, "--lead", bob.id);
  const misplaced = second.invalid.filter(({ reason }: { reason: string }) => /conversation/.test(reason));
  expect(misplaced).toEqual([]);
  const after = await tableItems();
  for (const item of [...bob.items, ...ofBob]) expect(after.has(item)).toBe(false);
});

test("messages in a conversation that was overwritten with one of another lead are shown, and erased without a scan", async () => {
  const account = randomUUID();
  const [ada, bob] = [await aKnownLead(account), await aKnownLead(account)];
  const names = ada.items.filter((item) => item.startsWith("CONVERSATION"));
  for (const each of names) {
    const [, id = ""] = each.split(" ");
    const fields = { id, leadId: bob.id, channel: "whatsapp", status: "closed", messageCount: 1 };
    await plantItem(conversationItem(account, { ...fields, lastMessageAt: "2026-01-01T00:00:00.000Z" }), {});
    const message = { id: newId("msg"), conversationId: id, leadId: bob.id, channel: "whatsapp" };
    await plantItem(messageKey(account, id, message.id), {
      ...message,
      message: "Of Bob",
      createdAt: "2026-01-01T00:00:00.000Z",
    });
  }
  const ofAda = ["--account", account, "--lead", ada.id];
  const { code, stdout } = await program(["leads", "show", ...ofAda, "--table", tableName, "--json"]);
  const { leads, invalid } = JSON.parse(stdout);
  expect(code).toBe(3);
  const messages = leads[0].conversations.flatMap((each: { messages: object[] }) => each.messages);
  expect(messages).toEqual(Array(3).fill(expect.objectContaining({ leadId: ada.id, message: "Hello" })));
  expect(invalid.map(name).sort()).toEqual(names);
  expect((await erase(account, "--lead", ada.id, "--no-scan")).failure).toBeUndefined();
  const left = [...(await tableItems())].filter((entry) => JSON.stringify(entry).includes(ada.id));
  expect(left.map(([key]) => key.split("#")[0]).sort()).toEqual(["ERASED", "IDEMPOTENCY", "IDEMPOTENCY"]);
});

test("a lead that the index lists for an address, and whose own is another or cannot be read, is not erased", async () => {
  const account = randomUUID();
  const byParent = leadEmailPartition(account, "ada@example.com");
  const { id } = await aKnownLead(account, "ada@example.com");
  await plantItem(leadKey(account, newId("lead")), { byParent, email: "bob@example.com" });
  const nameless = await plantItem(leadKey(account, newId("lead")), { byParent, email: 5 });
  const first = await erase(account, "--email", "ada@example.com", "--no-scan");
  expect(first.output.leads).toEqual([id]);
  expect(first.output.invalid.map(name)).toEqual([nameless]);
  const second = await erase(account, "--email", "ada@example.com", "--no-scan");
  expect(second.output).toBeUndefined();
  expect(second.failure).toContain(" then run the command again");
});

test("an external id is erased only with the lead that has it, whatever names it", async () => {
  const account = randomUUID();
  const [ada, bob] = [await aKnownLead(account), await aKnownLead(account)];
  await plantItem(externalIdKey(account, "crm-other"), { leadId: bob.id });
  const other = await erase(account, "--external-id", "crm-other");
  expect(other.failure).toBe(`The account ${account} has no lead with this external id.`);
  const eve = storedLead(newId("lead"), account);
  await put(withFields(eve, { details: { ...eve.details, externalId: bob.externalId } }));
  const before = await tableItems();
  await erase(account, "--lead", String(eve.id), "--no-scan");
  expect(compareItems(before, await tableItems()).deleted).toEqual([name(eve)]);
  const { output } = await erase(account, "--external-id", ada.externalId);
  expect(output.leads).toEqual([ada.id]);
  expect((await erase(account, "--external-id", bob.externalId, "--no-scan")).output.leads).toEqual([bob.id]);
  const left = [...(await tableItems()).keys()].filter((key) => key.startsWith(`EXTERNAL#${account}`));
  expect(left).toEqual([`EXTERNAL#${account} crm-other`]);
});

test("an erasure of two leads without a scan follows a lock of one to a conversation of the other once", async () => {
  const account = randomUUID();
  const [ada, bob] = [await aKnownLead(account), await aKnownLead(account)];
  const [, ofBob = ""] = bob.items.find((item) => item.startsWith("CONVERSATION"))?.split(" ") ?? [];
  await plantItem(activeConversationKey(account, ada.id, "sms"), { conversationId: ofBob });
  for (const { id } of [ada, bob])
    await plantItem(erasedLeadKey(account, id), { id: "erasure_1", leadId: id, pending: true });
  const { output, failure } = await erase(account, "--lead", ada.id, "--no-scan");
  expect({ failure, ...output }).toMatchObject({ failure: undefined, conversations: 4, messages: 6 });
});
