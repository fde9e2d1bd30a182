import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversation-status.ts";
import { setLeadScore, setLeadStatus } from "../../../../lib/ops/leads/lead-changes.ts";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { activeConversationKey, conversationKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../../shared/ids.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import { storedConversation, storedLead } from "../../../support/stored.ts";

/** A table with items, on which something happens once, between the reads and the first write of a command. */
async function tableWith(
  items: readonly Item[],
  meanwhile: (put: (item: Item) => Promise<unknown>) => object,
) {
  let happened = true;
  const memory = useMemoryTable(async (command, send) => {
    if (!happened && (command instanceof UpdateCommand || command instanceof TransactWriteCommand)) {
      happened = true;
      await meanwhile(put);
    }
    return send(command);
  });
  const put = (Item: Item) => memory.send(new PutCommand({ TableName: tableName, Item }));
  for (const item of items) await put(item);
  happened = false;
  return { memory, stored: () => [...memory.items()] };
}

const deadline = () => Date.now() + 10_000;
const lead = storedLead("lead_1");
const conversation = storedConversation("conv_1");

test.each<[string, Item, () => Promise<unknown>]>([
  ["a lead's status", lead, () => setLeadStatus("acme", "lead_1", "booked", deadline())],
  ["a lead's score", lead, () => setLeadScore("acme", "lead_1", 7, deadline())],
  [
    "a conversation's status",
    conversation,
    () => setConversationStatus("acme", "conv_1", "closed", deadline()),
  ],
])("%s is not set on what is deleted meanwhile: nothing of it comes back", async (_, item, change) => {
  const { memory, stored } = await tableWith([item], () =>
    memory.send(new DeleteCommand({ TableName: tableName, Key: { pk: item.pk, sk: item.sk } })),
  );
  expect(await change()).toBeUndefined();
  expect(stored()).toEqual([]);
});

test("a lead whose source changes meanwhile is listed under its new source", async () => {
  const withSource = (source: string, status: Lead["status"] = "new") =>
    leadItem("acme", {
      ...{ id: "lead_1", name: "Ada", score: 0, status, source, tags: [] },
      createdAt: "2026-01-01T00:00:00.000Z",
    });
  const { stored } = await tableWith([withSource("web")], (put) => put(withSource("fair")));
  expect(await setLeadStatus("acme", "lead_1", "booked", deadline())).toMatchObject({
    source: "fair",
    status: "booked",
  });
  expect(stored()).toEqual([withSource("fair", "booked")]);
});

test("a conversation does not become active beside another one that does so meanwhile", async () => {
  const other = newId("conv");
  const ended = (id: string) => ({
    ...conversationItem("acme", {
      ...{ id, leadId: "lead_1", channel: "whatsapp", status: "closed" },
      ...{ lastMessageAt: "2026-01-01T00:00:00.000Z", messageCount: 1 },
    }),
  });
  const pointer = { ...activeConversationKey("acme", "lead_1", "whatsapp"), conversationId: other };
  const { memory, stored } = await tableWith([ended("conv_1"), ended(other), pointer], () =>
    memory.send(
      new UpdateCommand({
        TableName: tableName,
        Key: conversationKey("acme", other),
        UpdateExpression: "SET #status = :active",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":active": "active" },
      }),
    ),
  );
  await expect(setConversationStatus("acme", "conv_1", "active", deadline())).rejects.toThrow(
    `The lead has another active conversation on this channel, ${other}: end that one first.`,
  );
  const statuses = stored().flatMap(({ id, status }) => (status ? [[id, status]] : []));
  expect(Object.fromEntries(statuses)).toEqual({ conv_1: "closed", [other]: "active" });
});
