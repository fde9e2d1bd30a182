import { randomUUID } from "node:crypto";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test } from "vitest";
import { beginErasure } from "../../../lib/ops/erasure/erased-leads.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { addressKey } from "../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, messagesOf } from "../../support/requests/requests.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

let account: string;
let memory: WatchedTable["memory"];
let stream: DynamoDBRecord[];
beforeEach(() => {
  [account, stream] = [randomUUID(), []];
  ({ memory } = new WatchedTable(stream));
});

const update = (body: object) => call("create-lead", { account, query: "ifExists=update", body });
const list = async (query: string) => (await call("list-leads", { account, query })).body.data;
const whatsapp = (...addresses: string[]) => ({ addresses: { whatsapp: addresses } });

test.each([
  ["is found by a telephone number whose + is not encoded", "wa", "(49) 0177-123", "WA:+49.0177/1.2-3", true],
  ["is not found by digits without the dots of a handle", "line", "1.2.34", "line:12.34", false],
  ["is not found by the id of a group", "line", "-100123", "line:100123", false],
  ["is found by the longest channel and address", "c".repeat(64), "a".repeat(160), "", true],
  ["is found by a telephone number with its + in parentheses", "wa", "(+49) 177.1", "wa:491771", true],
  ["is found by a text with a colon", "line", "DE:Ab", "line:DE:Ab", true],
  ["is found by an e-mail address in other letter case", "email", "Ada@x.de", "email:aDA@X.de", true],
  ["is not found by a handle in other letter case", "line", "Ab", "line:ab", false],
  ["is not found by the digits of a handle", "line", "ada1", "line:1", false],
  ["is not found by an address of another channel", "line", "1", "sms:1", false],
  ["is not found by other signs", "line", "--", "line:((", false],
  ["is found by 00 in place of +", "wa", "+49 177", "wa:0049177", true],
  ["is found by a number with other hyphens", "wa", "+49\u2011177\u20131", "wa:491771", true],
  ["is found by digits of full width", "wa", "\uff0b\uff14\uff19177", "wa:49177", true],
  ["is found by 00 and other signs", "wa", "+49 177", "wa:0049/177.", true],
  ["is not found by more zeros", "wa", "+49 177", "wa:00049177", false],
  ["is found without the ninth digit of Brazil", "wa", "+55 31 9 9123-0001", "wa:553191230001", true],
  ["is found with the ninth digit of Brazil", "wa", "553161230001", "wa:%2B55 31 9 6123-0001", true],
  ["is not found with a ninth digit before a fixed line", "wa", "553151230001", "wa:5531951230001", false],
  ["is found with the 1 of Mexico", "wa", "+52 55 7777 1001", "wa:5215577771001", true],
  ["is not found with a 1 before other numbers of Mexico", "wa", "525577771", "wa:5215577771", false],
  ["is found without the 9 of Argentina", "wa", "+54 9 11 2345-6789", "wa:00541123456789", true],
  ["is not found without the 9 of another country", "wa", "5691123456789", "wa:561123456789", false],
])("a lead %s", async (_, channel, address, asked, isFound) => {
  const lead = await aLead(account, { addresses: { [channel]: [address] } });
  expect(await list(`address=${asked || `${channel}: ${address}`}`)).toEqual(isFound ? [lead] : []);
});

test("an empty array is accepted as an empty object, because PHP sends {} as []", async () => {
  const body = { name: "Ada", metadata: [], addresses: [] };
  expect((await call("create-lead", { account, body })).body).toMatchObject({ metadata: {} });
});

test("a message goes to the first address that its lead has on the channel when it is sent", async () => {
  const { id } = await aLead(account, { addresses: { "whatsapp-2": ["2"], whatsapp: ["+49 1", "+49 2"] } });
  const sent = await aMessage(account, id, "WhatsApp");
  await update({ id, addresses: { whatsapp: null } });
  await update({ id, ...whatsapp("3") });
  // Also the name of a method.
  await aMessage(account, id, "constructor");
  await aMessage(account, id, "whatsapp", { direction: "inbound" });
  await aMessage(account, id);
  expect(sent).not.toHaveProperty("to");
  const messages = await messagesOf(account, sent.conversationId);
  expect(messages.map(({ to }) => to)).toEqual(["3", undefined, "+49 1"]);
  const events = toEvents(stream).filter(({ type }) => /^message[.](?:sent|received)$/.test(type));
  expect(events.map((event) => "to" in event && event.to)).toEqual(["+49 1", false, false, "3"]);
});

test("an address is returned as it was first sent, although it is compared in another form", async () => {
  const forms = ["+55 31 9 9123-0001", "553191230001", "0052 1 55 7777 1001", "+52 55 7777 1001"];
  const { id, addresses } = await aLead(account, whatsapp(...forms));
  expect(addresses).toEqual({ whatsapp: [forms[0], forms[2]] });
  expect((await update({ id, ...whatsapp("525577771001") })).body.addresses).toEqual(addresses);
  const { status, body } = await call("create-lead", {
    account,
    body: { name: "B", ...whatsapp("553191230001") },
  });
  expect([status, body]).toMatchObject([409, { code: "lead_exists", id }]);
});

test("if the item of a lead has an address that another lead has claimed, the address stays with the other lead", async () => {
  const { id } = await aLead(account, whatsapp("1", "2"));
  const bob = await aLead(account);
  memory.put({ ...addressKey(account, "whatsapp", "1"), leadId: bob.id });
  expect((await update({ id, addresses: { whatsapp: null } })).status).toBe(200);
  const names = [...memory.items()].filter(({ pk }) => String(pk).startsWith("ADDRESS#"));
  expect(names).toEqual([{ ...addressKey(account, "whatsapp", "1"), leadId: bob.id }]);
});

test("a lead can be erased even if its item has an address twice, which no request stores", async () => {
  const { id } = await aLead(account, whatsapp("1"));
  const item = [...memory.items()].find(({ sk }) => sk === id);
  memory.put({ ...item, addresses: { whatsapp: ["1", "(1)"] } } as Item);
  await beginErasure(account, id, new Pace(1e9));
  expect(JSON.stringify([...memory.items()])).not.toContain("ADDRESS#");
});
