import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { eraseCommand } from "../../../../lib/ops/leads/leads-erase.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import {
  activeConversationKey,
  erasedLeadKey,
  externalIdKey,
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

test("a lead that the index lists for an address, and whose own is another or cannot be read, is not erased, nor one that the note of another names", async () => {
  const account = randomUUID();
  const byParent = leadEmailPartition(account, "ada@example.com");
  const { id } = await aKnownLead(account, "ada@example.com");
  await plantItem(leadKey(account, newId("lead")), { byParent, email: "bob@example.com" });
  const nameless = await plantItem(leadKey(account, newId("lead")), { byParent, email: 5 });
  const other = await aKnownLead(account);
  const note = { id: "erasure_1", leadId: other.id, pending: true };
  const noted = await plantItem(erasedLeadKey(account, "lead_x"), note);
  const first = await erase(account, "--email", "ada@example.com", "--no-scan");
  expect(first.output.leads).toEqual([id]);
  expect(first.output.invalid.map(name)).toEqual([nameless, noted]);
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
