import { describe, expect, test } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
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

  test("is the same in the response to a retry", async () => {
    const headers = { "idempotency-key": "again-1" };
    const lead = { account: "again", headers, body: { name: "Ada", source: "LinkedIn" } };
    const created = await call("create-lead", lead);
    expect(created.body).toMatchObject({ source: "linkedin" });
    expect((await call("create-lead", lead)).body).toEqual(created.body);
    const body = { leadId: created.body.id, channel: "SMS", message: "Hello" };
    const message = { account: "again", headers, body };
    const sent = await call("send-message", message);
    expect(sent.body).toMatchObject({ channel: "sms" });
    expect((await call("send-message", message)).body).toEqual(sent.body);
  });

  test("cannot end a conversation by another spelling of active", async () => {
    const { id: leadId } = await aLead("status");
    const { conversationId } = await aMessage("status", leadId, "sms");
    expect(await setStatus("status", conversationId, "Active")).toMatchObject({ status: "active" });
    expect(await setStatus("status", conversationId, "Closed")).toMatchObject({ status: "closed" });
    expect(await ids("list-conversations", "status", { status: "CLOSED" })).toEqual([conversationId]);
  });
});
