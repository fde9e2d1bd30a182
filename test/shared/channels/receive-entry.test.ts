import { randomUUID } from "node:crypto";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import { erase } from "../../../lib/ops/erasure/erase.ts";
import { ItemsToErase } from "../../../lib/ops/erasure/items-to-erase.ts";
import type { ReceivedMessage, ReportedState } from "../../../shared/channels/meta-webhook.ts";
import { receiveEntry } from "../../../shared/channels/receive-entry.ts";
import { storeDelivery, toCallbackData } from "../../../shared/channels/store-delivery.ts";
import * as states from "../../../shared/domain/conversations/update-message.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Message, MessageUpdate } from "../../../shared/schemas/conversation-schemas.ts";
import { givenUp } from "../../../shared/schemas/field-schemas.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, messagesOf, report, setStatus } from "../../support/requests/requests.ts";
import { useTable, WatchedTable } from "../../support/tables/watched-table.ts";

let account: string;
useTable();
beforeEach(() => {
  account = randomUUID();
});

const received = (more: Partial<ReceivedMessage> = {}) =>
  receiveEntry(account, {
    ...{ kind: "message", channel: "whatsapp", sender: "106", id: "wamid.1" },
    ...{ addresses: ["491771"], name: "Ada", text: "Hi", metadata: { id: "wamid.1" }, ...more },
  });
const reported = (state: Partial<ReportedState>) =>
  receiveEntry(account, {
    ...{ kind: "state", channel: "whatsapp", sender: "106", providerId: "wamid.9", delivery: "read" },
    ...{ lead: "491771", ...state },
  });
const leads = async () => (await call("list-leads", { account })).body.data;
const conversations = async () => (await call("list-conversations", { account })).body.data;
const messages = async () => messagesOf(account, (await conversations())[0]?.id);

test("messages of an unknown sender create one lead, and are stored once even if they are repeated or concurrent", async () => {
  using _ = skipWaits();
  await Promise.all([received(), received(), received({ id: "wamid.2", text: "Are you there?" })]);
  await received();
  expect(await leads()).toMatchObject([
    { name: "Ada", source: "whatsapp", addresses: { whatsapp: ["491771"] } },
  ]);
  const texts = (await messages()).map(({ message, direction }) => `${direction} ${message}`);
  expect(texts.sort()).toEqual(["inbound Are you there?", "inbound Hi"]);
});

test.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ["its second number", ["+49 1", "+49 2"], ["492"], ["+49 2", "+49 1"]],
  [
    "its first number in another form",
    ["+55 31 9 9123-0001", "1"],
    ["553191230001"],
    ["+55 31 9 9123-0001", "1"],
  ],
  ["its second number, with a new id", ["+49 1", "+49 2"], ["492", "DE.1"], ["+49 2", "+49 1", "DE.1"]],
  ["its id, with a new number", ["+49 1", "DE.1"], ["492", "DE.1"], ["492", "+49 1", "DE.1"]],
  ["its second number, with the id of another lead", ["+49 1", "+49 2"], ["492", "DE.9"], ["+49 2", "+49 1"]],
  ["its second number, with an eleventh address", [..."123456789"], ["2", "DE.1"], [..."213456789"]],
])("a lead that writes from %s is answered there", async (_, before, addresses, after) => {
  await aLead(account, { addresses: { whatsapp: ["DE.9"] } });
  const { id: leadId, ...lead } = await aLead(account, { addresses: { whatsapp: [...before], sms: ["1"] } });
  for (const id of ["wamid.1", "wamid.2"]) await received({ id, addresses });
  const stored = (await leads()).find(({ id }) => id === leadId);
  expect(stored).toMatchObject({ name: lead.name, addresses: { whatsapp: after, sms: ["1"] } });
  expect((await messages()).map((message) => message.leadId)).toEqual([leadId, leadId]);
  // Only a change is written.
  expect(stored?.updatedAt === lead.updatedAt).toBe(`${before}` === `${after}`);
});

test("texts of any characters and any length are stored in a valid form, and a medium with its type", async () => {
  await received({ text: "\0 \ud800", metadata: { type: "image" } });
  await received({ id: "wamid.2", text: "\u00e9".repeat(4096) });
  await received({ id: "wamid.3", text: "\u{1F600}".repeat(4097) });
  expect(await messages()).toMatchObject([
    { message: `${"\u{1F600}".repeat(4095)}\u2026` },
    { message: "\u00e9".repeat(4096) },
    { message: "\ufffd", metadata: { type: "image" } },
  ]);
});

test("concurrent messages from several addresses and an update of the lead are all stored", async () => {
  using _ = skipWaits();
  const { id } = await aLead(account, { addresses: { whatsapp: ["+49 1", "+49 2"] } });
  const body = { id, tags: ["vip"], addresses: { whatsapp: ["+49 3"] } };
  await Promise.all([
    received({ addresses: ["491", "DE.1"] }),
    received({ id: "wamid.2", addresses: ["492", "DE.2"] }),
    call("create-lead", { account, query: "ifExists=update", body }),
  ]);
  const [lead] = await leads();
  expect(lead?.addresses?.whatsapp?.toSorted()).toEqual(["+49 1", "+49 2", "+49 3", "DE.1", "DE.2"]);
  expect([lead?.tags, (await messages()).length]).toEqual([["vip"], 2]);
});

test("the name of the profile replaces a name that is an address, and no other name", async () => {
  const names = async () => (await leads()).map(({ name }) => name);
  for (const name of [" ", "\u200b\n"]) await received({ id: `wamid.${name}`, name });
  expect(await names()).toEqual(["491771"]);
  await received({ id: "wamid.3", name: "Ada\n L" });
  await received({ id: "wamid.4", name: "Bea" });
  expect(await names()).toEqual(["Ada L"]);
});

test("a lead that changes its number is answered at the new one, and a change of number creates no lead", async () => {
  const move = (lead: string, address: string) =>
    receiveEntry(account, { kind: "move", channel: "whatsapp", sender: "106", lead, address });
  const { id } = await aLead(account, { addresses: { whatsapp: ["7", "+49 1"] } });
  const other = await aLead(account, { addresses: { whatsapp: ["493"] } });
  // An address of another lead stays with that lead.
  await move("494", "495");
  await move("491", "493");
  for (let n = 0; n < 2; n++) await move("491", "492");
  const stored = Object.fromEntries((await leads()).map((lead) => [lead.id, lead.addresses]));
  expect(stored).toEqual({ [id]: { whatsapp: ["492", "7"] }, [other.id]: other.addresses });
  expect(await conversations()).toEqual([]);
  // The new number replaces the former one, and a later owner of the former number is another lead.
  await received({ addresses: ["491"] });
  expect((await leads()).map((lead) => lead.addresses?.whatsapp)).toContainEqual(["491"]);
});

test("states find their message by its callback data, in any order, and never a message of another account", async () => {
  const { id: leadId } = await aLead(account, { addresses: { whatsapp: ["491771"] } });
  const sent = await aMessage(account, leadId);
  const other = await aMessage("other", (await aLead("other")).id);
  const callbackData = toCallbackData(sent);
  for (const delivery of ["read", "sent"] as const) await reported({ delivery, callbackData });
  for (const text of [toCallbackData(other), "conv_1 msg_1", "", `${callbackData} x`])
    await reported({ delivery: "failed", deliveryError: "1: x", callbackData: text });
  expect(await messages()).toMatchObject([{ id: sent.id, delivery: "read", providerId: "wamid.9" }]);
  expect((await messagesOf("other", other.conversationId))[0]).not.toHaveProperty("delivery");
});

test("a lead is found by the form of its number that WhatsApp has reported", async () => {
  const lead = await aLead(account, { addresses: { whatsapp: ["+54 11 15 2345-6789"] } });
  const sent = await aMessage(account, lead.id);
  const callbackData = toCallbackData(sent);
  for (const delivery of ["sent", "delivered"] as const)
    await reported({ delivery, callbackData, lead: "5491123456789" });
  await received({ addresses: ["5491123456789"] });
  expect(await leads()).toMatchObject([
    { id: lead.id, addresses: { whatsapp: ["5491123456789", "+54 11 15 2345-6789"] } },
  ]);
  expect(await messages()).toHaveLength(2);
});

/** A message in short: its direction, text, state and provider's id. */
const inShort = ({ direction, message, delivery, providerId = "-" }: Message) =>
  `${direction} ${message} ${delivery ?? "-"} ${providerId}`;
const echoed = (more: Partial<ReceivedMessage> = {}) =>
  received({ channel: "instagram", text: "Hello", isEcho: true, ...more });

const given = { delivery: "failed", deliveryError: `${givenUp}503` } as const;
test.each<
  [what: string, states: readonly Partial<MessageUpdate>[], message: string, after: readonly string[]]
>([
  ["the message with its id", [{ delivery: "sent", providerId: "wamid.1" }], "Hello", ["sent wamid.1"]],
  ["the message without a response yet", [{}], "Hello", ["sent wamid.1"]],
  ["the message without a response yet, despite other blanks", [{}], "Hello ", ["sent wamid.1"]],
  ["the message that was given up", [given], "Hello", ["sent wamid.1"]],
  ["the first of two", [{}, {}], "Hello", ["sent wamid.1", "- -"]],
  ["the second of two", [{ delivery: "sent", providerId: "x" }, {}], "Hello", ["sent x", "sent wamid.1"]],
  ["no message that was refused", [{ delivery: "failed" }], "Hello", ["failed -", "sent wamid.1"]],
  ["no message that was sent", [{ delivery: "sent" }], "Hello", ["sent -", "sent wamid.1"]],
  ["no message with another text", [{}], "Hi", ["- -", "sent wamid.1"]],
])("an echo matches %s, even if it is repeated or concurrent", async (_, before, message, after) => {
  using _waits = skipWaits();
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["491771"] } });
  await received({ channel: "instagram", id: "wamid.0", text: "Hi" });
  for (const { delivery, ...state } of before) {
    const { id, conversationId } = await aMessage(account, leadId, "instagram", { message });
    if (delivery) await storeDelivery(account, { id, conversationId, delivery, ...state });
  }
  await Promise.all([echoed(), echoed()]);
  await echoed();
  const texts = before.map(() => message);
  expect((await messages()).toReversed().map(inShort)).toEqual([
    "inbound Hi - -",
    ...after.map((state, n) => `outbound ${texts[n] ?? "Hello"} ${state}`),
  ]);
  expect((await conversations())[0]?.awaitingReplySince).toBeUndefined();
});

test("an echo matches no message that is too old to be sent", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 9 * 60 * 60 * 1000 });
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["491771"] } });
  await aMessage(account, leadId, "instagram");
  vi.useRealTimers();
  await echoed();
  expect((await messages()).map(inShort)).toEqual(["outbound Hello sent wamid.1", "outbound Hello - -"]);
});

test("an echo of WhatsApp matches no message of the API, whatever its text is", async () => {
  const { id: leadId } = await aLead(account, { addresses: { whatsapp: ["7", "+49 177 1"] } });
  await aMessage(account, leadId);
  await echoed({ channel: "whatsapp" });
  expect((await messages()).map(inShort)).toEqual(["outbound Hello sent wamid.1", "outbound Hello - -"]);
  expect((await messages()).map(({ to }) => to)).toEqual(["491771", "7"]);
});

test.each([
  ["sent", { delivery: "sent", providerId: "wamid.1" }],
  ["not sent yet", {}],
])("an echo of a message that is %s matches it in a conversation that has ended since", async (_, state) => {
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["491771"] } });
  const sent = await aMessage(account, leadId, "instagram");
  if ("delivery" in state) await report(account, sent, state);
  await setStatus(account, sent.conversationId, "closed");
  await received({ channel: "instagram", id: "wamid.2" });
  await echoed();
  const waiting = { messageCount: 1, awaitingReplySince: expect.any(String) };
  expect(await conversations()).toMatchObject([waiting, { messageCount: 1 }]);
});

test("an echo matches no message stored after the echo was sent, and is no reply to messages that the lead wrote later", async () => {
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["491771"] } });
  const ended = await aMessage(account, leadId, "instagram", { direction: "inbound" });
  await setStatus(account, ended.conversationId, "closed");
  const first = await aMessage(account, leadId, "instagram", { direction: "inbound" });
  const waiting = async () =>
    (await call("list-conversations", { account, query: "awaitingReply=true" })).body.data;
  const sentAt = new Date(Date.now() - 60_000).toISOString();
  await echoed({ metadata: { id: "wamid.1", sentAt } });
  expect(await waiting()).toMatchObject([{ awaitingReplySince: first.createdAt, messageCount: 2 }]);
  await aMessage(account, leadId, "instagram");
  expect(await waiting()).toEqual([]);
  await echoed({ id: "wamid.2", metadata: { id: "wamid.2", sentAt } });
  expect((await messages()).map(inShort)).toEqual([
    "outbound Hello sent wamid.2",
    "outbound Hello - -",
    "outbound Hello sent wamid.1",
    "inbound Hello - -",
  ]);
});

test("a redelivered webhook changes nothing in its lead, and does not bring back an erased lead", async () => {
  await aLead(account, { addresses: { whatsapp: ["491", "492"] } });
  for (const address of ["491", "492", "491"])
    await received({ id: `wamid.${address}`, addresses: [address] });
  await echoed({ channel: "whatsapp", id: "wamid.3" });
  expect((await leads()).map(({ addresses }) => addresses?.whatsapp)).toContainEqual(["492", "491"]);
  using _ = skipWaits();
  for (const lead of await leads())
    await erase(new ItemsToErase({ account, leads: new Set([lead.id]) }), new Pace());
  await received({ id: "wamid.491", addresses: ["491"] });
  await echoed({ channel: "whatsapp", id: "wamid.3" });
  expect(await leads()).toEqual([]);
});

test("an echo is ignored if a hundred newer messages are stored, because it may be stored before them", async () => {
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["491771"] } });
  const sentAt = new Date(Date.now() - 1000).toISOString();
  for (let n = 0; n < 100; n++) await aMessage(account, leadId, "instagram", { direction: "inbound" });
  await echoed({ metadata: { id: "wamid.1", sentAt } });
  expect((await conversations())[0]?.messageCount).toBe(100);
  await echoed({ metadata: { id: "wamid.1", sentAt: new Date().toISOString() } });
  expect((await messages())[0]).toMatchObject({ delivery: "sent" });
});

test("an echo is stored as a message of its own if the message with its text gets another id at the same time", async () => {
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["491771"] } });
  const sent = await aMessage(account, leadId, "instagram");
  const storing = vi.spyOn(states, "updateMessage").mockImplementationOnce(async (...args) => {
    storing.mockRestore();
    await report(account, sent, { delivery: "sent", providerId: "x" });
    return states.updateMessage(...args);
  });
  await echoed();
  expect((await messages()).map(inShort)).toEqual(["outbound Hello sent wamid.1", "outbound Hello sent x"]);
});

test("a first message from the phone creates the lead, a conversation, and an event of a message that is already sent", async () => {
  const records: DynamoDBRecord[] = [];
  new WatchedTable(records);
  for (let n = 0; n < 2; n++)
    await echoed({ channel: "whatsapp", text: "[image]", metadata: { type: "image" } });
  expect(await leads()).toMatchObject([{ name: "Ada", addresses: { whatsapp: ["491771"] } }]);
  const content = { message: "[image]", metadata: { type: "image" } };
  const sent = { direction: "outbound", to: "491771", ...content, delivery: "sent" };
  expect(await messages()).toMatchObject([{ ...sent, providerId: "wamid.1" }]);
  expect(toEvents(records).filter(({ type }) => type === "message.sent")).toMatchObject([sent]);
  // A later state finds this message by the provider's id.
  await reported({ providerId: "wamid.1", delivery: "delivered" });
  expect(await messages()).toMatchObject([{ delivery: "delivered" }]);
});

test("a read report of Instagram, which has only the provider's id, marks the message and all sent before it as read", async () => {
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["99"] } });
  const deliveries = ["sent", "failed", undefined, "sent", "sent"];
  for (const [n, delivery] of deliveries.entries()) {
    const message = await aMessage(account, leadId, "instagram");
    if (delivery) await report(account, message, { delivery, providerId: `mid.${n}` });
  }
  await aMessage(account, leadId, "instagram", { direction: "inbound" });
  const read = async (lead: string, providerId: string) => {
    await reported({ channel: "instagram", lead, providerId });
    return (await messages()).toReversed().map(({ delivery }) => delivery);
  };
  expect(await read("99", "mid.7")).toEqual([...deliveries, undefined]);
  expect(await read("98", "mid.3")).toEqual([...deliveries, undefined]);
  expect(await read("99", "mid.3")).toEqual(["read", "failed", undefined, "read", "sent", undefined]);
  const ids = (await messages()).map(({ providerId = "-" }) => providerId);
  expect(ids.join(" ")).toBe("- mid.4 mid.3 - mid.1 mid.0");
});
