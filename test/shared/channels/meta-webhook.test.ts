import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSigned, readWebhook } from "../../../shared/channels/meta-webhook.ts";

const sender = "106540352242922";
const whatsapp = (value: object, field = "messages") => ({
  object: "whatsapp_business_account",
  entry: [{ id: "1", changes: [{ field, value: { metadata: { phone_number_id: sender }, ...value } }] }],
});
const instagram = (...messaging: object[]) => ({ object: "instagram", entry: [{ id: "1784", messaging }] });
const direct = (part: object, from = "99") =>
  instagram({ sender: { id: from }, recipient: { id: "1784" }, ...part });

const contacts = [{ profile: { name: "Ada" }, wa_id: "491", user_id: "DE.1" }];
const written = (message: object) =>
  whatsapp({ contacts, messages: [{ id: "wamid.1", from: "491", ...message }] });
const ofAda = {
  kind: "message",
  channel: "whatsapp",
  sender,
  id: "wamid.1",
  addresses: ["491"],
  name: "Ada",
};
const state = { kind: "state", channel: "whatsapp", sender, providerId: "wamid.2", lead: "491" };
const reported = (status: object) =>
  whatsapp({ statuses: [{ id: "wamid.2", recipient_id: "491", ...status }] });

describe("a webhook of Meta", () => {
  test.each<[string, object, object[]]>([
    ["a text", written({ type: "text", text: { body: "Hi" } }), [{ ...ofAda, text: "Hi" }]],
    [
      "a text of somebody with a user name, who hides the number",
      whatsapp({
        contacts,
        messages: [{ id: "wamid.1", from_user_id: "DE.1", type: "text", text: { body: "Hi" } }],
      }),
      [{ ...ofAda, addresses: ["DE.1"], text: "Hi" }],
    ],
    [
      "a text with both",
      written({ from_user_id: "DE.1", type: "text", text: { body: "Hi" } }),
      [{ ...ofAda, addresses: ["491", "DE.1"], text: "Hi" }],
    ],
    [
      "a state without an address",
      reported({
        status: "read",
        recipient_id: "",
        recipient_user_id: null,
        biz_opaque_callback_data: "ours",
      }),
      [{ ...state, lead: undefined, delivery: "read", callbackData: "ours" }],
    ],
    [
      "the name of somebody among others",
      whatsapp({
        contacts: [{ profile: { name: "Bob" }, wa_id: "492" }, ...contacts],
        messages: [{ id: "wamid.1", from: "491", type: "text", text: { body: "Hi" } }],
      }),
      [{ ...ofAda, text: "Hi" }],
    ],
    ["what is written to a group", written({ group_id: "1", type: "text", text: { body: "Hi" } }), []],
    [
      "a reaction",
      written({ type: "reaction", reaction: { message_id: "wamid.0", emoji: "\u{1F44D}" } }),
      [{ ...ofAda, text: "[reaction] \u{1F44D}", metadata: { type: "reaction" } }],
    ],
    [
      "an image with a caption",
      written({ type: "image", image: { id: "m1", caption: "My car" } }),
      [{ ...ofAda, text: "[image] My car", metadata: { type: "image", mediaId: "m1" } }],
    ],
    [
      "a kind that is new",
      written({ type: "hologram" }),
      [{ ...ofAda, text: "[hologram]", metadata: { type: "hologram" } }],
    ],
    ["a button", written({ type: "button", button: { text: "Yes" } }), [{ ...ofAda, text: "Yes" }]],
    [
      "a chosen row",
      written({ type: "interactive", interactive: { list_reply: { id: "1", title: "Monday" } } }),
      [{ ...ofAda, text: "Monday" }],
    ],
    [
      "states",
      whatsapp({
        statuses: ["sent", "delivered", "read", "deleted"].map((status) => ({
          ...{ id: "wamid.2", recipient_id: "491", status },
          biz_opaque_callback_data: "ours",
        })),
      }),
      ["sent", "delivered", "read"].map((delivery) => ({ ...state, delivery, callbackData: "ours" })),
    ],
    [
      "a failure",
      reported({
        status: "failed",
        errors: [{ code: 131047, title: "Late", error_data: { details: "24 hours" } }],
      }),
      [{ ...state, delivery: "failed", deliveryError: "131047: 24 hours" }],
    ],
    [
      "a state of somebody who hides the number",
      reported({ status: "read", recipient_id: undefined, recipient_user_id: "DE.1" }),
      [{ ...state, delivery: "read", lead: "DE.1" }],
    ],
    [
      "a failure without a reason",
      reported({ status: "failed" }),
      [{ ...state, delivery: "failed", deliveryError: "unknown" }],
    ],
    ["another field", whatsapp({ statuses: [{ id: "x", recipient_id: "1", status: "read" }] }, "calls"), []],
    [
      "a direct message",
      direct({ message: { mid: "mid.1", text: "Hi" } }),
      [{ kind: "message", channel: "instagram", sender: "1784", id: "mid.1", addresses: ["99"], text: "Hi" }],
    ],
    [
      "a direct message with a picture",
      direct({ message: { mid: "mid.1", attachments: [{ type: "image", payload: { url: "https://x" } }] } }),
      [
        {
          ...{ kind: "message", channel: "instagram", sender: "1784", id: "mid.1", addresses: ["99"] },
          ...{ text: "[image]", metadata: { type: "image" } },
        },
      ],
    ],
    [
      "that a direct message is read",
      direct({ read: { mid: "mid.2" } }),
      [
        {
          kind: "state",
          channel: "instagram",
          sender: "1784",
          providerId: "mid.2",
          delivery: "read",
          lead: "99",
        },
      ],
    ],
    ["an echo", direct({ message: { mid: "mid.1", text: "Hi", is_echo: true } }, "1784"), []],
    ["a message that was taken back", direct({ message: { mid: "mid.1", is_deleted: true } }), []],
    ["another object", { object: "page", entry: [{ id: "1784", messaging: [] }] }, []],
  ])("tells of %s", (_, body, entries) => {
    expect(readWebhook(body)).toEqual(entries);
  });

  test("of any other form tells nothing, and is no error", () => {
    const parts = fc.constantFrom(
      ..."object entry changes field value metadata messages statuses messaging sender".split(" "),
    );
    const any = fc.object({
      key: parts,
      maxDepth: 6,
      values: [fc.constant("instagram"), fc.string(), fc.constant(null)],
    });
    fc.assert(
      fc.property(fc.oneof(any, fc.anything()), (body) => {
        expect(readWebhook(body)).toBeInstanceOf(Array);
      }),
    );
  });
});

test("only the secret of the app signs a webhook, over its bytes", () => {
  const body = Buffer.from('{"name":"Zo\u00eb"}');
  const sign = (secret: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  expect(isSigned(body, sign("secret"), "secret")).toBe(true);
  const wrong = [
    undefined,
    "",
    "sha256=",
    sign("other"),
    sign("secret").slice(0, -1),
    sign("secret").toUpperCase(),
  ];
  for (const signature of wrong) expect(isSigned(body, signature, "secret")).toBe(false);
  expect(isSigned(Buffer.from(`${body} `), sign("secret"), "secret")).toBe(false);
});
