import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import type { ReceivedMessage, ReportedState } from "../../../shared/channels/meta-webhook.ts";
import { receiveEntry } from "../../../shared/channels/receive-entry.ts";
import { toCallbackData } from "../../../shared/channels/store-delivery.ts";
import type { OpenedConversation } from "../../../shared/schemas/conversation-schemas.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, report } from "../../support/requests/requests.ts";
import { useTable } from "../../support/tables/watched-table.ts";

let account: string;
useTable();
beforeEach(() => {
  account = randomUUID();
});

const received = (more: Partial<ReceivedMessage> = {}) =>
  receiveEntry(account, {
    ...{ kind: "message", channel: "whatsapp", sender: "106", id: "wamid.1" },
    ...{ addresses: ["491771"], name: "Ada", text: "Hi", ...more },
  });
const reported = (state: Partial<ReportedState>) =>
  receiveEntry(account, {
    ...{ kind: "state", channel: "whatsapp", sender: "106", providerId: "wamid.9", delivery: "read" },
    ...{ lead: "491771", ...state },
  });
const leads = async () => (await call("list-leads", { account })).body.data;
async function messages() {
  const [conversation] = (await call("list-conversations", { account })).body.data;
  const query = `id=${conversation?.id}&include=messages`;
  const { data } = (await call("list-conversations", { account, query })).body;
  return (data as OpenedConversation[])[0]?.messages ?? [];
}

test("an answer of somebody unknown makes one lead and one message, however often and at once it comes", async () => {
  using _ = skipWaits();
  await Promise.all([received(), received(), received({ id: "wamid.2", text: "Are you there?" })]);
  await received();
  expect(await leads()).toMatchObject([
    { name: "Ada", source: "whatsapp", addresses: { whatsapp: ["491771"] } },
  ]);
  expect((await messages()).map(({ message, direction }) => `${direction} ${message}`).sort()).toEqual([
    "inbound Are you there?",
    "inbound Hi",
  ]);
});

test("an answer is that of the lead with the address, which keeps its name and gets the id of the user", async () => {
  const lead = await aLead(account, { addresses: { whatsapp: ["+49 (177) 1"] } });
  await received({ addresses: ["491771", "DE.1"] });
  await received({ id: "wamid.2", addresses: ["DE.1"] });
  const addresses = { whatsapp: ["+49 (177) 1", "DE.1"] };
  expect(await leads()).toEqual([{ ...lead, addresses, updatedAt: expect.any(String) }]);
  expect(await messages()).toHaveLength(2);
});

test.each<[string, readonly [string, string], object]>([
  ["another lead has the second one", ["491771", "DE.1"], { whatsapp: ["DE.1"] }],
  ["it has ten", ["491771", "DE.2"], { sms: ["x"] }],
])("an answer is stored if a lead cannot get the second address, because %s", async (_, addresses, other) => {
  const nine = { email: [..."123456789"] };
  const { id } = await aLead(account, { addresses: { whatsapp: ["491771"], ...nine } });
  await aLead(account, { addresses: other as never });
  await received({ addresses });
  expect((await messages())[0]?.leadId).toBe(id);
});

test("a text and a name of any characters are stored, and what is no text has its kind", async () => {
  await received({ name: "\u200b\n", text: "\0 \ud800", metadata: { type: "image" } });
  expect((await leads())[0]?.name).toBe("491771");
  expect(await messages()).toMatchObject([{ message: "\ufffd", metadata: { type: "image" } }]);
});

test("a state leads back to its message by what was sent along, in any order, and never to another account's", async () => {
  const { id: leadId } = await aLead(account, { addresses: { whatsapp: ["491771"] } });
  const sent = await aMessage(account, leadId);
  const other = await aMessage("other", (await aLead("other")).id);
  const callbackData = toCallbackData(sent);
  for (const delivery of ["read", "sent"] as const) await reported({ delivery, callbackData });
  for (const text of [toCallbackData(other), "conv_1 msg_1", "", `${callbackData} x`])
    await reported({ delivery: "failed", deliveryError: "1: x", callbackData: text });
  expect(await messages()).toMatchObject([{ id: sent.id, delivery: "read", providerId: "wamid.9" }]);
  const query = `id=${other.conversationId}&include=messages`;
  const { data } = (await call("list-conversations", { account: "other", query })).body;
  expect((data as OpenedConversation[])[0]?.messages?.[0]).not.toHaveProperty("delivery");
});

test("a lead whom WhatsApp knows by another form of the number answers from it", async () => {
  const lead = await aLead(account, { addresses: { whatsapp: ["+54 11 15 2345-6789"] } });
  const sent = await aMessage(account, lead.id);
  const callbackData = toCallbackData(sent);
  for (const delivery of ["sent", "delivered"] as const)
    await reported({ delivery, callbackData, lead: "5491123456789" });
  await received({ addresses: ["5491123456789"] });
  expect(await leads()).toMatchObject([
    { id: lead.id, addresses: { whatsapp: ["+54 11 15 2345-6789", "5491123456789"] } },
  ]);
  expect(await messages()).toHaveLength(2);
});

test("Instagram tells only the provider's id of what is read, which is found in the lead's conversation", async () => {
  const { id: leadId } = await aLead(account, { addresses: { instagram: ["99"] } });
  const [first, second] = [
    await aMessage(account, leadId, "instagram"),
    await aMessage(account, leadId, "instagram"),
  ];
  for (const [n, message] of [first, second].entries())
    await report(account, message, { delivery: "sent", providerId: `mid.${n}` });
  for (const [lead, providerId] of [
    ["99", "mid.0"],
    ["99", "mid.7"],
    ["98", "mid.1"],
  ] as const)
    await reported({ channel: "instagram", lead, providerId });
  expect((await messages()).map(({ delivery }) => delivery)).toEqual(["sent", "read"]);
});
