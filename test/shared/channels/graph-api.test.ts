import { beforeEach, expect, test, vi } from "vitest";
import { type GraphMessage, sendByGraph } from "../../../shared/channels/graph-api.ts";

let fetched = vi.spyOn(globalThis, "fetch");
beforeEach(() => {
  fetched = vi.spyOn(globalThis, "fetch");
});

const message = {
  channel: "whatsapp",
  sender: "106",
  to: "+49 (177) 1",
  text: "Hello",
  callbackData: "ours",
} as const;
const send = (more: Partial<GraphMessage> = {}) => sendByGraph("token", { ...message, ...more });
const respond = (status: number, body: unknown) =>
  fetched.mockResolvedValueOnce(
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status }),
  );

const common = {
  ...{ messaging_product: "whatsapp", recipient_type: "individual", to: "491771" },
  biz_opaque_callback_data: "ours",
};
const text = { type: "text", text: { body: "Hello" } };

test.each<[string, Partial<GraphMessage>, object]>([
  ["a telephone number gets a text", {}, { ...common, ...text }],
  ["a telephone number with 00 in place of + gets a text", { to: "0049 1771" }, { ...common, ...text }],
  [
    "the id of a user gets a text",
    { to: "DE.1349" },
    { ...common, to: undefined, recipient: "DE.1349", ...text },
  ],
  [
    "a template has the values of its placeholders",
    { template: { name: "welcome", language: "en_US", parameters: ["Ada"] } },
    {
      ...{ ...common, type: "template" },
      template: {
        ...{ name: "welcome", language: { code: "en_US" } },
        components: [{ type: "body", parameters: [{ type: "text", text: "Ada" }] }],
      },
    },
  ],
  [
    "an account of Instagram gets a text",
    { channel: "instagram", to: "99" },
    { recipient: { id: "99" }, message: { text: "Hello" } },
  ],
])("%s", async (_, more, body) => {
  respond(200, more.channel === "instagram" ? { message_id: "mid.1" } : { messages: [{ id: "mid.1" }] });
  expect(await send(more)).toEqual({ delivery: "sent", providerId: "mid.1" });
  const [url, { headers, ...init } = {}] = fetched.mock.lastCall ?? [];
  expect([url, init.method, headers]).toMatchObject([
    more.channel === "instagram" ? "/me/messages" : "/106/messages",
    "POST",
    { authorization: "Bearer token" },
  ]);
  expect(JSON.parse(String(init.body))).toEqual(JSON.parse(JSON.stringify(body)));
});

test.each<[number, number, string]>([
  [400, 131047, "131047: Why"],
  [400, 131026, "131026: Why"],
  [400, 100, "100: Why"],
  [403, 10, "10: Why"],
])("a refusal with status %i and code %i is final", async (status, code, deliveryError) => {
  respond(status, {
    error: { code, error_subcode: 2534022, message: "(#1) Short", error_data: { details: "Why" } },
  });
  expect(await send()).toEqual({ delivery: "failed", deliveryError });
});

test.each<[number, unknown, boolean, number]>([
  [400, { error: { code: 130429 } }, false, 0],
  [400, { error: { code: 131056 } }, false, 0],
  [429, {}, false, 0],
  [500, { error: { code: 131000 } }, false, 60],
  [503, "<html>", false, 60],
  [401, {}, true, 0],
  [400, { error: { code: 190 } }, true, 0],
  [403, { error: { code: 200 } }, true, 0],
  [400, { error: { code: 131031 } }, true, 0],
  [400, { error: { code: 100, error_subcode: 33 } }, true, 0],
])("after status %i with %j, another attempt may succeed (refused sender: %s, pause: %i s)", async (status, body, isRefusedSender, pause) => {
  respond(status, body);
  await expect(send()).rejects.toMatchObject({ name: "UndeliveredError", isRefusedSender, pause });
});

test("an error that quotes the token does not show it", async () => {
  respond(400, { error: { code: 190, message: "Malformed access token token!" } });
  await expect(send()).rejects.toThrow("190: Malformed access … …!");
});

test("an accepted message is sent, whatever else the response contains", async () => {
  for (const body of ["cut", { messages: [{ id: "1 2" }] }]) {
    respond(200, body);
    expect(await send()).toEqual({ delivery: "sent" });
  }
});

test("without a response, another attempt may succeed", async () => {
  fetched.mockRejectedValueOnce(new TypeError("fetch failed"));
  await expect(send()).rejects.toMatchObject({ name: "UndeliveredError", isRefusedSender: false, pause: 60 });
});
