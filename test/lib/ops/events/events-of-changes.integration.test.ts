import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { sendMessage } from "../../../../shared/domain/conversations/messages.ts";
import { updateConversation } from "../../../../shared/domain/conversations/update-conversation.ts";
import { updateMessage } from "../../../../shared/domain/conversations/update-message.ts";
import { createOrUpdateLead } from "../../../../shared/domain/create-lead.ts";
import { toEvents } from "../../../../shared/domain/events.ts";
import { leadKey, messageKey } from "../../../../shared/dynamodb/keys.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runCommand } from "../../../support/commands/command.ts";
import { anAccount, leadFile } from "../../../support/commands/lead-files.ts";
import { aLead, aMessage } from "../../../support/requests/requests.ts";
import { stack } from "../../../support/stack/role-check.ts";
import { copyTable, useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { streamRecord } from "../../../support/tables/stream-record.ts";
import { compareItems, remove, tableItems } from "../../../support/tables/table-items.ts";
import { copy, replace } from "../accounts/support/copy.ts";

useTablesOfCommands();

const publisher = stack.eventSources.find((source) => source.function.label === "publish-events");

/** Writes something. @returns the events that publish-events makes of it, and how many records pass the filter */
async function eventsOf(work: () => Promise<unknown>) {
  const before = await tableItems();
  await work();
  const after = await tableItems();
  const { added, changed, deleted } = compareItems(before, after);
  const records = [...added, ...changed, ...deleted].map((key) =>
    streamRecord(before.get(key), after.get(key)),
  );
  const passed = records.filter((record) => publisher?.accepts(record));
  return { passed: passed.length, events: toEvents(passed) };
}

const nothing = { passed: 0, events: [] };

test("changes of leads, statuses and deliveries have events, repeated or late ones have none, and a message only has its own", async () => {
  const account = randomUUID();
  const lead = await aLead(account);
  const { conversationId, id } = await aMessage(account, lead.id);
  const report = (delivery: "sent" | "read") => updateMessage(account, { id, conversationId, delivery });
  expect((await eventsOf(() => report("read"))).events).toMatchObject([
    { type: "message.updated", messageId: id, changed: ["delivery"], message: { delivery: "read" } },
  ]);
  expect(await eventsOf(() => report("sent"))).toEqual(nothing);
  const setScore = () => createOrUpdateLead(account, { id: lead.id, score: 7 });
  expect((await eventsOf(setScore)).events).toMatchObject([{ type: "lead.updated", changed: ["score"] }]);
  expect(await eventsOf(setScore)).toEqual(nothing);
  const setStatus = (status: string) => updateConversation(account, { id: conversationId, status });
  for (const status of ["closed", "active"])
    expect((await eventsOf(() => setStatus(status))).events).toMatchObject([
      { type: "conversation.updated", conversationId, changed: ["status"], conversation: { status } },
    ]);
  for (const [direction, type] of [
    ["outbound", "message.sent"],
    ["inbound", "message.received"],
  ] as const) {
    const message = { leadId: lead.id, channel: "whatsapp", direction, message: "Hello" };
    expect(await eventsOf(() => sendMessage(account, message))).toMatchObject({
      passed: 1,
      events: [{ type, conversationId, direction, message: "Hello" }],
    });
  }
});

test("a copy and an import have events only for the leads that they store and for what they change", async () => {
  const [account, other] = [await anAccount(), randomUUID()];
  const lead = await aLead(account);
  const { conversationId, id: messageId } = await aMessage(account, lead.id);
  await aMessage(account, lead.id);
  const from = copyTable();
  const again = () => replace(account, from);
  expect(await eventsOf(again)).toEqual(nothing);

  await createOrUpdateLead(account, { id: lead.id, score: 7 });
  await updateConversation(account, { id: conversationId, status: "closed" });
  await updateMessage(account, { id: messageId, conversationId, delivery: "read" });
  expect((await eventsOf(again)).events).toMatchObject([
    { type: "conversation.updated", conversationId, changed: ["status"], conversation: { status: "active" } },
    {
      type: "lead.updated",
      leadId: lead.id,
      changed: ["score"],
      lead: { ...lead, updatedAt: expect.any(String) },
    },
    // The reported delivery of the message stays.
  ]);
  expect(await eventsOf(again)).toEqual(nothing);

  // The number of messages is also corrected.
  await remove(messageKey(account, conversationId, messageId));
  const spoiled = copyTable();
  await remove(leadKey(account, lead.id));
  expect((await eventsOf(() => replace(account, spoiled))).events).toMatchObject([
    { type: "lead.created", id: lead.id, imported: true },
    { type: "conversation.updated", changed: ["messageCount"], conversation: { messageCount: 1 } },
  ]);

  const moved = await eventsOf(() => copy(account, from, "--to-account", other));
  expect(moved.events).toMatchObject([{ type: "lead.created", account: other, id: lead.id, imported: true }]);

  const file = await leadFile("name,createdAt\nOld,2020-01-01T00:00:00Z\nNew,\n");
  const imported = () => runCommand(importCommand(), file, "--account", other);
  const event = { type: "lead.created", account: other, imported: true };
  const { events } = await eventsOf(imported);
  expect(events).toMatchObject([event, event]);
  expect(await eventsOf(imported)).toEqual(nothing);
  const [{ importId = "" } = {}] = events as { readonly importId?: string }[];
  using _ = skipWaits();
  const undo = () => runCommand(importCommand(), "--undo", importId, "--yes", "--account", other);
  const erased = { type: "lead.erased", account: other };
  expect((await eventsOf(undo)).events).toMatchObject([erased, erased]);
});
