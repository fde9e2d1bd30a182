import { atOnce, conversations } from "../account.ts";
import { promises } from "../check.ts";
import { expectMatch, expectResponse } from "../expectations.ts";

const emoji = "\u{1F600}";

/** Messages that are sent at once: fewer than a conversation takes in a second. */
const many = 12;

export const conversationChecks = [
  ...promises("README.md#first-requests", {
    "A sent message is returned with 201 and all its fields": async ({ mine }) => {
      const fields = { leadId: (await mine.createLead()).id, channel: "whatsapp", message: "Hello Ada" };
      const ids = { id: /^msg_\w{1,60}$/, conversationId: /^conv_\w{1,59}$/ };
      const createdAt = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
      const body = { ...fields, ...ids, direction: "outbound", createdAt };
      expectResponse(await mine.post(conversations, fields), { status: 201, body });
    },
    "Messages that are sent at once start one conversation, which counts each of them": async ({ mine }) => {
      const { id: leadId } = await mine.createLead();
      // Starts many environments: otherwise one may handle all messages, and none at the same time.
      await atOnce(many, async (n) => mine.sendMessage((await mine.createLead()).id, `warm-up ${n}`));
      const sent = await atOnce(many, (n) => mine.sendMessage(leadId, "web", `Message ${n}`));
      const found = [...new Set(sent.map(({ conversationId }) => conversationId))];
      expectMatch("conversations", found.length, 1);
      expectMatch("ids of messages", new Set(sent.map(({ id }) => id)).size, many);
      const [lastMessageAt] = sent
        .map(({ createdAt }) => createdAt)
        .sort()
        .reverse();
      await mine.expectIndexed(conversations, { leadId }, found);
      const expected = { leadId, channel: "web", status: "active", messageCount: many, lastMessageAt };
      await mine.expectConversation(found[0] ?? "", expected);
    },
  }),
  ...promises("docs/usage.md#filters", {
    "A channel is stored in one form, and messages in any spelling of it join": async ({ mine }) => {
      const { id } = await mine.createLead();
      const { conversationId } = await mine.sendMessage(id, "whatsapp");
      const expected = { channel: "whatsapp", conversationId };
      for (const spelling of ["WhatsApp", "whatsapp\u00a0", "whats\u200bapp", "\uff57hatsapp"])
        expectMatch("the message", await mine.sendMessage(id, spelling), expected);
    },
  }),
  ...promises("docs/usage.md#input", {
    "The text of a message is returned as it was sent, with line breaks and tabs": async ({ mine }) => {
      const message = ` Hello,\r\n\tAda \u{1F44B}\u2028 `;
      const { id } = await mine.createLead();
      expectMatch("the message", await mine.sendMessage(id, "web", message), { message });
    },
  }),
  ...promises("README.md#routes-and-fields", {
    "A message of 4,096 code points on a channel of 64 is stored": async ({ mine }) => {
      const [channel, message] = [emoji.repeat(64), emoji.repeat(4096)];
      const { id } = await mine.createLead();
      expectMatch("the message", await mine.sendMessage(id, channel, message), { channel, message });
    },
  }),
  ...promises("docs/usage.md#when-changes-become-visible", {
    "Lists without filters and by id show a new conversation at once, and first": async ({ mine }) => {
      const { conversationId: id } = await mine.sendMessage((await mine.createLead()).id, "web");
      expectMatch("the first conversation", (await mine.list(conversations, { limit: 1 })).data, [{ id }]);
      await mine.expectRows(conversations, { id }, [id]);
    },
  }),
  ...promises("docs/errors.md#problem-codes", {
    "A message to an unknown lead returns 404, says what else the id is, and stores nothing": ({ mine }) =>
      mine.expectNothingStored(async () => {
        const ids = { lead_nobody: /leadId/, conv_1: /conversation/, msg_1: /message/ };
        for (const [leadId, detail] of Object.entries(ids)) {
          const response = await mine.post(conversations, { leadId, channel: "web", message: "Hello" });
          expectResponse(response, { status: 404, body: { code: "lead_not_found", detail } });
        }
      }),
  }),
];
