import { describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

const account = "edges";

describe("a message", () => {
  test("of 4,096 code points on a channel of 64 is stored unchanged", async () => {
    const { id: leadId } = await aLead(account);
    const [channel, text] = ["\u{1F600}".repeat(64), "\u{1F468}".repeat(4096)];
    expect(await aMessage(account, leadId, channel, text)).toMatchObject({ channel, message: text });
    const query = `channel=${encodeURIComponent(channel)}`;
    const { body } = await call("list-conversations", { account, query });
    expect(body.data).toMatchObject([{ leadId, channel, messageCount: 1 }]);
  });

  test("and a channel of one code point more are rejected", async () => {
    const body = { leadId: "lead_1", channel: "c".repeat(65), message: "\u{1F468}".repeat(4097) };
    const { status, problem } = await call("send-message", { account, body });
    expect(status).toBe(400);
    expect(problem.errors).toEqual([
      { in: "body", field: "channel", code: "too_long", message: "must have at most 64 characters" },
      { in: "body", field: "message", code: "too_long", message: "must have at most 4096 characters" },
    ]);
  });
});

describe("an email", () => {
  const email = `${"a".repeat(64)}@${"b.".repeat(93)}com`;

  test("of 254 characters is stored, of 255 rejected", async () => {
    expect(email).toHaveLength(254);
    expect((await aLead(account, { email })).email).toBe(email);
    const { status, problem } = await call("create-lead", {
      account,
      body: { name: "x", email: `${email}m` },
    });
    expect(status).toBe(400);
    expect(problem.errors).toMatchObject([{ field: "email", code: "too_long" }]);
  });
});

describe("a body", () => {
  /** A body of this many bytes, mostly spaces, with one character of two bytes. */
  const paddedBody = (bytes: number) => `{"name":"Zo\u00eb"${" ".repeat(bytes - 15)}}`;

  test.each([
    false,
    true,
  ])("of 65,536 bytes is accepted and of 65,537 rejected (base64: %s)", async (isBase64Encoded) => {
    const send = (bytes: number) => {
      const text = paddedBody(bytes);
      expect(Buffer.byteLength(text)).toBe(bytes);
      const body = isBase64Encoded ? Buffer.from(text).toString("base64") : text;
      const headers = { "content-type": "application/json" };
      return call("create-lead", { account, body, headers, isBase64Encoded });
    };
    expect(await send(65_536)).toMatchObject({ status: 201, body: { name: "Zo\u00eb" } });
    const { status, problem } = await send(65_537);
    expect(status).toBe(400);
    expect(problem.errors).toMatchObject([{ in: "body", field: "", code: "too_large" }]);
  });
});
