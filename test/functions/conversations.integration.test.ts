import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
import { messageKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../shared/ids.ts";
import type { Conversation } from "../../shared/schemas/conversation-schemas.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

async function conversations(account: string, query = ""): Promise<Conversation[]> {
  const { body } = await call("list-conversations", { account, query });
  expect(body.pagination.total).toBe(body.data.length);
  return body.data;
}

const setStatus = (account: string, id: string, status: string) =>
  setConversationStatus(account, id, status, Date.now() + 10_000);

describe("send-message", () => {
  test("returns the message and starts a conversation of one message", async () => {
    const { id: leadId } = await aLead("first");
    const text = "Hello,\r\n\tAda \u{1F44B}";
    const sent = await aMessage("first", leadId, "instagram", text);
    expect(sent).toEqual({
      id: expect.stringMatching(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/),
      conversationId: expect.stringMatching(/^conv_[0-9A-HJKMNP-TV-Z]{26}$/),
      leadId,
      channel: "instagram",
      message: text,
      createdAt: expect.any(String),
    });
    expect(await conversations("first")).toEqual([
      {
        id: sent.conversationId,
        leadId,
        channel: "instagram",
        status: "active",
        lastMessageAt: sent.createdAt,
        messageCount: 1,
      },
    ]);
  });

  test("starts a conversation at the time of its first message, however slow the machine is", async () => {
    const { id: leadId } = await aLead("slow");
    let now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => ++now);
    onTestFinished(() => clock.mockRestore());
    const sent = await aMessage("slow", leadId, "sms");
    expect(createdAt(sent.conversationId)).toBe(sent.createdAt);
  });

  test("joins the active conversation of the lead and channel and stores each message", async () => {
    const { id: leadId } = await aLead("join");
    const sent = [];
    for (const text of ["one", "two", "three"]) sent.push(await aMessage("join", leadId, "whatsapp", text));
    const elsewhere = await aMessage("join", leadId, "instagram");
    const [conversationId = "", ...others] = new Set(sent.map((message) => message.conversationId));
    expect(others).toEqual([]);
    expect(elsewhere.conversationId).not.toBe(conversationId);
    expect(await conversations("join", "channel=whatsapp")).toMatchObject([
      { id: conversationId, messageCount: 3, lastMessageAt: sent[2]?.createdAt },
    ]);
    const { pk } = messageKey("join", conversationId, "");
    const { Items } = await table.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": pk },
      }),
    );
    expect(Items?.map(({ pk, sk, ...message }) => message)).toEqual(sent);
  });

  test("starts a new conversation after the last one was closed, and joins that one", async () => {
    const { id: leadId } = await aLead("ended");
    const first = await aMessage("ended", leadId);
    await setStatus("ended", first.conversationId, "closed");
    const second = await aMessage("ended", leadId);
    const third = await aMessage("ended", leadId);
    expect(second.conversationId).not.toBe(first.conversationId);
    expect(third.conversationId).toBe(second.conversationId);
    expect((await conversations("ended")).map(({ id, messageCount }) => [id, messageCount])).toEqual([
      [second.conversationId, 2],
      [first.conversationId, 1],
    ]);
  });

  test.each([
    ["lead_01JZ0000000000000000000000"],
    ["x"],
    ["#"],
    ["\ud800"],
    ["\0"],
    ["x".repeat(64)],
    ["\u{1F600}".repeat(64)],
  ])("returns 404 for the unknown lead %j", async (leadId) => {
    const { status, problem } = await call("send-message", {
      body: { leadId, channel: "a", message: "Hello" },
    });
    expect(status).toBe(404);
    expect(problem).toMatchObject({ code: "lead_not_found", status: 404 });
  });

  test("returns the same problem for another account's lead as for one that does not exist", async () => {
    const { id: leadId } = await aLead("owner");
    const request = (id: string) => ({
      account: "stranger",
      body: { leadId: id, channel: "a", message: "Hello" },
    });
    const theirs = await call("send-message", request(leadId));
    const nobodys = await call("send-message", request("lead_nobody"));
    expect(theirs.status).toBe(404);
    expect(theirs.problem).toEqual(nobodys.problem);
    expect(await conversations("owner")).toEqual([]);
    expect(await conversations("stranger")).toEqual([]);
  });
});

describe("list-conversations", () => {
  test("filters by lead, channel and status in every combination", async () => {
    const account = "combinations";
    const leads = [await aLead(account), await aLead(account)];
    for (const { id } of leads)
      for (const channel of ["whatsapp", "in#sta"]) await aMessage(account, id, channel);
    const [first] = await conversations(account);
    await setStatus(account, first?.id ?? "", "closed");
    const all = await conversations(account);
    expect(all).toHaveLength(4);
    for (const leadId of [undefined, leads[0]?.id, leads[1]?.id, "lead_nobody"]) {
      for (const channel of [undefined, "whatsapp", "in#sta", "in%23sta"]) {
        for (const status of [undefined, "active", "closed", "never"]) {
          const filter = Object.entries({ leadId, channel, status }).filter(
            ([, value]) => value !== undefined,
          );
          const query = new URLSearchParams(filter as [string, string][]).toString();
          const matching = all.filter((conversation) =>
            filter.every(([name, value]) => Reflect.get(conversation, name) === value),
          );
          expect(await conversations(account, query), query).toEqual(matching);
        }
      }
    }
  });
});
