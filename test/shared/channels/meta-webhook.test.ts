import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readWebhook } from "../../../shared/channels/meta-webhook.ts";
import { largeFields, metadata } from "../../../shared/schemas/field-schemas.ts";

const sender = "106540352242922";
const whatsapp = (value: object, field = "messages") => ({
  object: "whatsapp_business_account",
  entry: [{ id: "1", changes: [{ field, value: { metadata: { phone_number_id: sender }, ...value } }] }],
});
const instagram = (...messaging: object[]) => ({ object: "instagram", entry: [{ id: "1784", messaging }] });
const direct = (part: object, from = "99") =>
  instagram({ sender: { id: from }, recipient: { id: "1784" }, ...part });
const echoed = (message: object, to = "99") =>
  instagram({ sender: { id: "1784" }, recipient: { id: to }, message: { ...message, is_echo: true } });

const contacts = [{ profile: { name: "Ada" }, wa_id: "491", user_id: "DE.1" }];
const bob = { profile: { name: "Bob" }, wa_id: "492" };
const written = (message: object, people: readonly object[] = contacts) =>
  whatsapp({ contacts: people, messages: [{ id: "wamid.1", from: "491", ...message }] });
const hi = { type: "text", text: { body: "Hi" } };
const ofAda = {
  ...{ kind: "message", channel: "whatsapp", sender, id: "wamid.1", addresses: ["491"], name: "Ada" },
  ...{ text: "Hi", metadata: { id: "wamid.1" } },
};
const phoned = { from: "15550783881", to: "+491", id: "wamid.1", ...hi };
const ofPhone = { ...ofAda, name: undefined, addresses: ["+491"], isEcho: true };
const system = (change: object) =>
  written({ type: "system", system: { body: "New", wa_id: "492", ...change } });
const onInstagram = { channel: "instagram", sender: "1784" };
const toInstagram = {
  ...{ ...onInstagram, kind: "message", id: "mid.1", addresses: ["99"], text: "Hi" },
  metadata: { id: "mid.1" },
};

describe("a webhook of Meta", () => {
  test.each<[string, object, object[]]>([
    ["a text", written(hi), [ofAda]],
    [
      "a text of a person who has a user name and hides the number",
      written({ ...hi, from: undefined, from_user_id: "DE.1" }),
      [{ ...ofAda, addresses: ["DE.1"] }],
    ],
    [
      "a text with a number and a user name",
      written({ ...hi, from_user_id: "DE.1" }),
      [{ ...ofAda, addresses: ["491", "DE.1"] }],
    ],
    ["the name of the sender among other contacts", written(hi, [bob, ...contacts]), [ofAda]],
    ["a message to a group (ignored)", written({ ...hi, group_id: "1" }), []],
    ["a reaction that was removed (ignored)", written({ type: "reaction", reaction: { emoji: "" } }), []],
    [
      "the new number of a lead",
      system({ type: "user_changed_number" }),
      [{ kind: "move", channel: "whatsapp", sender, lead: "491", address: "492" }],
    ],
    ["another change of a lead (ignored)", system({ type: "customer_identity_changed" }), []],
    ["another field", whatsapp({ statuses: [{ id: "x", recipient_id: "1", status: "read" }] }, "calls"), []],
    ["a direct message", direct({ message: { mid: "mid.1", text: "Hi" } }), [toInstagram]],
    [
      "the report that a direct message was read",
      direct({ read: { mid: "mid.2" } }),
      [{ ...onInstagram, kind: "state", providerId: "mid.2", delivery: "read", lead: "99" }],
    ],
    [
      "a message that the account has sent on Instagram",
      echoed({ mid: "mid.1", text: "Hi" }),
      [{ ...toInstagram, isEcho: true }],
    ],
    ["a message of the account to itself (ignored)", echoed({ mid: "mid.1", text: "Hi" }, "1784"), []],
    ["a message that the account has deleted (ignored)", echoed({ mid: "mid.1", is_deleted: true }), []],
    [
      "messages that were sent on the phone by WhatsApp",
      whatsapp(
        {
          message_echoes: [
            { ...phoned, type: "reaction", reaction: { emoji: "👍" } },
            ...[phoned, { ...phoned, to: null, to_user_id: "DE.1" }],
          ],
        },
        "smb_message_echoes",
      ),
      [ofPhone, { ...ofPhone, addresses: ["DE.1"] }],
    ],
    ["a deleted message (ignored)", direct({ message: { mid: "mid.1", is_deleted: true } }), []],
    ["another object", { object: "page", entry: [{ id: "1784", messaging: [] }] }, []],
  ])("is read with %s", (_, body, entries) => {
    expect(readWebhook(body)).toEqual(entries);
  });

  test("is read with states, also of people who hide their numbers, and leaves out other states", () => {
    const late = [{ code: 131047, title: "Late", error_data: { details: "24 hours" } }];
    const states: [status: object, state?: object][] = [
      [{ status: "sent" }, { delivery: "sent", lead: "491" }],
      [{ status: "delivered" }, { delivery: "delivered", lead: "491" }],
      [{ status: "deleted" }],
      [
        { status: "read", biz_opaque_callback_data: "ours" },
        { delivery: "read", lead: "491", callbackData: "ours" },
      ],
      [{ status: "read", recipient_id: "", recipient_user_id: null }, { delivery: "read" }],
      [
        { status: "read", recipient_id: undefined, recipient_user_id: "DE.1" },
        { delivery: "read", lead: "DE.1" },
      ],
      [
        { status: "failed", errors: late },
        { delivery: "failed", lead: "491", deliveryError: "131047: 24 hours" },
      ],
      [{ status: "failed" }, { delivery: "failed", lead: "491", deliveryError: "unknown" }],
    ];
    const statuses = states.map(([status]) => ({ id: "wamid.2", recipient_id: "491", ...status }));
    const common = { kind: "state", channel: "whatsapp", sender, providerId: "wamid.2" };
    expect(readWebhook(whatsapp({ statuses }))).toEqual(
      states.flatMap(([, state]) => (state ? { ...common, ...state } : [])),
    );
  });

  /** What is stored of the first entry: its text, and the metadata in its order, without the id. */
  function stored(body: object) {
    const [entry] = readWebhook(body);
    if (entry?.kind !== "message") throw new Error("No message.");
    const { id, ...more } = entry.metadata;
    expect(id).toBe(entry.id);
    return [entry.text, ...Object.entries(more).map((pair) => pair.join("="))].join("; ");
  }

  const cards = ["Bo", "Cy"].map((name) => ({
    name: { first_name: "-", formatted_name: name },
    phones: [{ phone: "+1" }],
  }));
  const edit = { original_message_id: "w.0", message: { type: "text", text: { body: "Hi!" } } };
  const office = { latitude: 52.5, longitude: -13.4, name: "Office", address: "1 Main St" };
  const items = [{ product_retailer_id: "p1", quantity: 2 }];
  const ad = { source_url: "https://x", source_id: "12", body: "Ad" };
  const flow = { nfm_reply: { body: "Sent", response_json: '{"day":1}' } };
  test.each<[object, string]>([
    [
      { ...hi, context: { from: "1", id: "w.0", forwarded: true } },
      "Hi; context.id=w.0; context.forwarded=true; context.from=1",
    ],
    [{ ...hi, timestamp: "1795000000" }, "Hi; sentAt=2026-11-18T11:06:40.000Z"],
    [{ text: {}, timestamp: "soon" }, "[text]; type=text"],
    [{ ...hi, referral: ad }, "Hi; referral.source_id=12; referral.body=Ad; referral.source_url=https://x"],
    [{ reaction: { message_id: "w.0", emoji: "+" } }, "[reaction] +; type=reaction; reaction.message_id=w.0"],
    [
      { image: { mime_type: "p", id: "m1", caption: "Car" } },
      "[image] Car; type=image; mediaId=m1; image.mime_type=p",
    ],
    [{ document: { filename: "a.pdf" } }, "[document] a.pdf; type=document; document.filename=a.pdf"],
    [
      { location: office },
      "[location] Office, 1 Main St; type=location; location.latitude=52.5; location.longitude=-13.4; location.name=Office; location.address=1 Main St",
    ],
    [
      { location: { latitude: 0, longitude: 7 } },
      "[location] 0, 7; type=location; location.latitude=0; location.longitude=7",
    ],
    [
      { contacts: cards },
      "[contacts] Bo, Cy; type=contacts; contacts.0.name.formatted_name=Bo; contacts.0.phones.0.phone=+1; contacts.1.name.formatted_name=Cy; contacts.1.phones.0.phone=+1; contacts.0.name.first_name=-; contacts.1.name.first_name=-",
    ],
    [{ button: { text: "Yes", payload: "YES" } }, "Yes; button.payload=YES"],
    [{ interactive: { list_reply: { id: "7", title: "Monday" } } }, "Monday; interactive.list_reply.id=7"],
    [
      { interactive: flow },
      '[interactive] Sent; type=interactive; interactive.nfm_reply.response_json={"day":1}',
    ],
    [
      { order: { text: "Fast", product_items: items } },
      "[order] Fast; type=order; product_items.0.product_retailer_id=p1; order.product_items.0.quantity=2",
    ],
    [{ edit }, "[edit] Hi!; type=edit; edit.original_message_id=w.0; edit.message.type=text"],
    [{ revoke: { original_message_id: "w.0" } }, "[revoke]; type=revoke; revoke.original_message_id=w.0"],
    [{ hologram: undefined }, "[hologram]; type=hologram"],
    // `more` counts the values that are left out: long values, and all beyond ten entries.
    [{ ...hi, referral: { headline: "h".repeat(1000), ref: "r" } }, "Hi; referral.ref=r; more=1"],
    [{ x: [..."123456789"] }, "[x]; type=x; x.0=1; x.1=2; x.2=3; x.3=4; x.4=5; x.5=6; x.6=7; more=2"],
    [
      { x: { ["y".repeat(41)]: "1", "": "2", "a\n": "3", b: "\0", c: "\ud800" } },
      "[x]; type=x; x.=2; x.c=\ufffd; more=2",
    ],
  ])("yields the text and the metadata of a WhatsApp message %j", (message, expected) => {
    expect(stored(written({ type: Object.keys(message)[0], ...message }))).toBe(expected);
  });

  const image = { type: "image", payload: { url: "https://x" } };
  test.each<[object, string, number?]>([
    [{ text: "Hi" }, "Hi; sentAt=2026-11-18T11:06:40.123Z", 1795000000123],
    [{ attachments: [image] }, "[image]; type=image; attachments.0.payload.url=https://x"],
    [
      { text: "Look", attachments: [image, { type: "video" }] },
      "[image] Look; type=image; attachments.0.payload.url=https://x; attachments.1.type=video",
    ],
    [{ text: "Wow", reply_to: { story: { id: "17" } } }, "Wow; reply_to.story.id=17"],
    [{ is_unsupported: true }, "[unknown]; type=unknown; is_unsupported=true"],
  ])("yields the text and the metadata of an Instagram message %j", (message, expected, timestamp) => {
    expect(stored(direct({ timestamp, message: { mid: "mid.1", ...message } }))).toBe(expected);
  });

  test("yields the title of a button that was tapped on Instagram", () => {
    const postback = { mid: "mid.1", title: "Opening hours?", payload: "HOURS" };
    expect(stored(direct({ postback }))).toBe("Opening hours?; payload=HOURS");
  });

  test("yields values that can be stored, whatever the form of a message", () => {
    const isValid = new Ajv2020().compile(metadata);
    const anything = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom("image", "order", "\0"), anything, anything, (type, part, others) => {
        const id = '"'.repeat(512);
        const [entry] = readWebhook(
          written({ ...others, [type]: part, type, id, from: "491", group_id: undefined }),
        );
        expect(entry?.kind === "message" && isValid(entry.metadata) && largeFields(entry)).toEqual([]);
      }),
    );
  });

  test("is read without an error, whatever its form", () => {
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
