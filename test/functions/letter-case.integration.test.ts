import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { buildUpdate, updateItem } from "../../lib/ops/common/write-items.ts";
import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
import { conversationStatusKeys } from "../../shared/domain/conversations.ts";
import { addLead } from "../../shared/domain/leads.ts";
import {
  activeConversationKey,
  conversationKey,
  sourceOrChannelPartition,
} from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

const ids = async (
  route: "list-leads" | "list-conversations",
  account: string,
  query: Record<string, string>,
) => {
  const { status, body } = await call(route, { account, query: new URLSearchParams(query).toString() });
  expect(status).toBe(200);
  expect(body.pagination.total).toBe(body.data.length);
  return body.data.map(({ id }: { id: string }) => id);
};

const setStatus = (account: string, id: string, status: string) =>
  setConversationStatus(account, id, status, Date.now() + 10_000);

describe("a source, a channel or a status in any letter case", () => {
  test.each([
    ["LinkedIn", "linkedin"],
    ["MESSE KÖLN", "messe köln"],
    ["ΟΔΟΣ", "οδος"],
    // The lower case of this character is two, so the longest name would become too long.
    ["İ".repeat(64), "İ".repeat(64)],
    ["Ⱥ".repeat(64), "ⱥ".repeat(64)],
  ])("is stored in lower case: %s", async (sent, stored) => {
    const lead = await aLead("stored", { source: sent });
    expect(lead.source).toBe(stored);
    const message = await aMessage("stored", lead.id, sent);
    expect(message.channel).toBe(stored);
    for (const source of [sent, stored])
      expect(await ids("list-leads", "stored", { source })).toEqual([lead.id]);
    for (const channel of [sent, stored]) {
      const query = { channel, leadId: lead.id, status: "ACTIVE" };
      expect(await ids("list-conversations", "stored", query)).toEqual([message.conversationId]);
    }
  });

  test("is one name for messages: they join one conversation", async () => {
    const { id: leadId } = await aLead("joined");
    const sent = [];
    for (const channel of ["whatsapp", "WhatsApp", "WHATSAPP"]) {
      sent.push(await aMessage("joined", leadId, channel));
    }
    expect(new Set(sent.map(({ conversationId }) => conversationId)).size).toBe(1);
    expect(await ids("list-conversations", "joined", {})).toHaveLength(1);
  });

  test("is the same for a request that is sent again", async () => {
    const { id: leadId } = await aLead("again");
    const request = {
      account: "again",
      body: { leadId, channel: "SMS", message: "Hello" },
      headers: { "idempotency-key": "again-1" },
    };
    const first = await call("send-message", request);
    const second = await call("send-message", request);
    expect(first.body).toMatchObject({ channel: "sms" });
    expect(second.body).toEqual(first.body);
  });

  test("cannot end a conversation by another spelling of active", async () => {
    const { id: leadId } = await aLead("status");
    const { conversationId } = await aMessage("status", leadId, "sms");
    expect(await setStatus("status", conversationId, "Active")).toMatchObject({
      outcome: "changed",
      conversation: { status: "active" },
    });
    expect(await setStatus("status", conversationId, "Closed")).toMatchObject({
      conversation: { status: "closed" },
    });
    expect(await ids("list-conversations", "status", { status: "CLOSED" })).toEqual([conversationId]);
  });
});

describe("a spelling with capital letters that rows of the account have", () => {
  const storeLead = async (account: string, source: string) => {
    const id = newId("lead");
    const lead = {
      id,
      name: "Ada",
      score: 0,
      status: "new" as const,
      source,
      tags: [],
      createdAt: createdAt(id),
    };
    await addLead(account, lead);
    return id;
  };

  test("stays another source than its lower case", async () => {
    const before = await storeLead("old sources", "LinkedIn");
    const lower = await aLead("old sources", { source: "linkedin" });
    const after = await aLead("old sources", { source: "LinkedIn" });
    expect(after.source).toBe("LinkedIn");
    expect(await ids("list-leads", "old sources", { source: "LinkedIn" })).toEqual([after.id, before]);
    expect(await ids("list-leads", "old sources", { source: "linkedin" })).toEqual([lower.id]);
    expect(await ids("list-leads", "old sources", { source: "LINKEDIN" })).toEqual([lower.id]);
  });

  test("does not change the responses to earlier requests that are sent again", async () => {
    const account = "again with old rows";
    const headers = { "idempotency-key": "again-2" };
    const newLead = { account, headers, body: { name: "Ada", source: "LinkedIn" } };
    const lead = (await call("create-lead", newLead)).body;
    const message = { account, headers, body: { leadId: lead.id, channel: "WhatsApp", message: "Hello" } };
    const sent = (await call("send-message", message)).body;
    expect([lead.source, sent.channel]).toEqual(["linkedin", "whatsapp"]);
    await storeLead(account, "LinkedIn");
    const { conversationId } = await aMessage(account, lead.id, "sms");
    await rename(account, { leadId: lead.id, conversationId }, "WhatsApp");
    expect((await call("create-lead", newLead)).body).toEqual(lead);
    expect((await call("send-message", message)).body).toEqual(sent);
  });

  test("of another account changes nothing", async () => {
    await storeLead("one of two", "Fair");
    expect((await aLead("two of two", { source: "Fair" })).source).toBe("fair");
  });

  test("joins the conversation that has it", async () => {
    const account = "old channels";
    const { id: leadId } = await aLead(account);
    const { conversationId } = await aMessage(account, leadId, "whatsapp");
    await rename(account, { leadId, conversationId }, "WhatsApp");
    const joined = await aMessage(account, leadId, "WhatsApp");
    expect(joined).toMatchObject({ conversationId, channel: "WhatsApp" });
    expect(await ids("list-conversations", account, { channel: "WhatsApp" })).toEqual([conversationId]);
  });

  /** Gives a conversation a channel with capital letters, as messages once did. */
  async function rename(
    account: string,
    { leadId, conversationId }: { leadId: string; conversationId: string },
    channel: string,
  ) {
    const keys = {
      channel,
      byOrigin: sourceOrChannelPartition("conversation", account, channel),
      ...conversationStatusKeys(account, { status: "active", channel }),
    };
    await updateItem(buildUpdate(conversationKey(account, conversationId), keys));
    const pointer = { ...activeConversationKey(account, leadId, channel), conversationId };
    await table.send(new PutCommand({ TableName: tableName, Item: pointer }));
  }
});
