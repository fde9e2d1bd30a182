import { randomUUID } from "node:crypto";
import { marshall, NumberValueImpl, unmarshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { readNumbers } from "../../../shared/dynamodb/invalid-items.ts";
import {
  activeConversationKey,
  conversationKey,
  idempotencyKey,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import type { Message } from "../../../shared/schemas/conversation-schemas.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { withFields } from "../../support/cases/with-fields.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage } from "../../support/requests/requests.ts";
import { startedConversation, storedLead } from "../../support/tables/stored.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
import { useTable } from "../../support/tables/watched-table.ts";

let account: string;
const { memory } = useTable();
let logged: Item[];

beforeEach(() => {
  stopClock();
  account = randomUUID();
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(line));
});

/** Stores an item that our code would not store, as the client reads it. The next item gets a later time. */
function plant(item: object): void {
  memory.put(unmarshall(marshall(item, { removeUndefinedValues: true }), { ...readNumbers }));
  vi.setSystemTime(Date.now() + 1);
}

/** A number that JavaScript cannot represent. */
const unsafe = NumberValueImpl.from("12345678901234567890.5");

const anEmail = "ada@example.com";
const aStoredLead = () => storedLead(newId("lead"), account, { email: anEmail, source: "web" });
const newConversation = (leadId: string) => startedConversation(newId("conv"), { leadId, channel: "sms" });

describe("lists leave out", () => {
  const filters = ["", "status=new", "source=web", "status=new&source=web", `email=${anEmail}`];
  const list = async (query: string) => {
    const { status, body } = await call("list-leads", { account, query });
    expect([query, status]).toEqual([query, 200]);
    return body.data.map(({ id }) => id);
  };
  const spoils: Readonly<Record<string, Item>> = {
    "no name": { name: undefined },
    "a status that cannot be converted to a text": { status: { toString: "x", valueOf: "x" } },
    "a score that JavaScript cannot represent": { score: unsafe },
    "an unknown field with such a number": { other: unsafe, score: "0" },
    "the id of another lead": { id: newId("lead") },
    "a status that no lead has": { status: "weird" },
    "a text as its time": { createdAt: "yesterday" },
    "another source than that of its index": { source: "ads" },
    "another address than that of its index": { email: "grace@example.com" },
  };

  test("every invalid lead and no other, and log the key of the first one", async () => {
    const { id } = await aLead(account, { source: "web", email: anEmail });
    let first: Item | undefined;
    for (const [what, values] of Object.entries(spoils)) {
      const item = aStoredLead();
      first ??= item;
      plant(withFields(item, values));
      expect([what, await list(`id=${item.sk}`)]).toEqual([what, []]);
    }
    for (const query of filters) expect(await list(query)).toEqual([id]);
    expect(logged).toEqual([{ event: "invalid item", pk: first?.pk, sk: first?.sk, field: "name" }]);
  });

  test("a conversation of another account, and conversations with invalid fields", async () => {
    const lead = await aLead(account);
    const { conversationId, createdAt } = await aMessage(account, lead.id, "sms", { direction: "inbound" });
    for (const spoiled of [
      { pk: conversationKey(randomUUID(), "").pk },
      ...[{ messageCount: "1" }, { lastMessage: "x" }, { awaitingReplySince: "2" }, { sk: "conv_zz" }],
    ])
      plant({
        ...conversationItem(account, newConversation(lead.id)),
        ...{ awaitingReplySince: createdAt, ...spoiled },
      });
    for (const query of ["", "status=active", "channel=sms", `leadId=${lead.id}`, "awaitingReply=true"]) {
      const { body } = await call("list-conversations", { account, query });
      expect([query, body.data.map(({ id }) => id)]).toEqual([query, [conversationId]]);
    }
    expect(logged).toHaveLength(2);
  });

  test("invalid messages of an opened conversation, which still has as many messages as requested", async () => {
    const { id: leadId } = await aLead(account);
    const sent: Message[] = [];
    for (let n = 0; n < 60; n++) {
      const message = await aMessage(account, leadId, "sms");
      sent.unshift(message);
      const spoils: readonly { readonly id?: string; readonly [name: string]: unknown }[] = [
        ...[{ message: n }, { conversationId: newId("conv") }],
        ...[{ id: `msg_zz${n}` }, { id: newId("msg", Date.now() + 1e9) }],
      ];
      for (const { id = newId("msg"), ...spoiled } of spoils)
        plant({ ...message, ...messageKey(account, message.conversationId, id), id, ...spoiled });
    }
    const open = async (query: string) => {
      const asked = `id=${sent[0]?.conversationId}&include=messages${query}`;
      const { body } = await call("list-conversations", { account, query: asked });
      return body.data.map((row) => Reflect.get(row, "messages"));
    };
    expect(await open("")).toEqual([sent.slice(0, 20)]);
    expect(await open(`&messagesBefore=${sent[19]?.id}&messageLimit=30`)).toEqual([sent.slice(20, 50)]);
    expect(await open("&status=ended")).toEqual([]);
  });
});

describe("a message is sent once, in a conversation of its lead on its channel, if the lock", () => {
  /** Sends a message with a planted lock. @returns its conversation */
  async function sendWith(conversationId: unknown, leadId: string, headers = {}) {
    const lock = activeConversationKey(account, leadId, "sms");
    plant({ ...lock, conversationId });
    const request = { account, headers, body: { leadId, channel: "sms", message: "Hello" } };
    const { status, body } = await call("send-message", request);
    expect(status).toBe(201);
    expect((await readItem(lock))?.conversationId).toBe(body.conversationId);
    const conversation = await readItem(conversationKey(account, body.conversationId));
    expect(conversation).toMatchObject({ leadId, channel: "sms", status: "active", messageCount: 1 });
    expect(await readItem(messageKey(account, body.conversationId, body.id))).toMatchObject({ leadId });
    // The next message joins it.
    expect((await aMessage(account, leadId, "sms")).conversationId).toBe(body.conversationId);
    return body.conversationId;
  }

  test.each([
    ["without a key", () => ({})],
    ["with a key", (key: string) => ({ "idempotency-key": key })],
  ])("names a conversation of another lead, or on another channel: %s", async (_, headersOf) => {
    for (const channel of ["sms", "email"]) {
      const [victim, lead] = [await aLead(account), await aLead(account)];
      const { conversationId } = await aMessage(account, channel === "sms" ? victim.id : lead.id, channel);
      const before = await readItem(conversationKey(account, conversationId));
      expect(await sendWith(conversationId, lead.id, headersOf(channel))).not.toBe(conversationId);
      expect(await readItem(conversationKey(account, conversationId))).toEqual(before);
    }
  });

  test.each([
    [
      "the conversation of another account",
      async () => {
        const other = randomUUID();
        return (await aMessage(other, (await aLead(other)).id, "sms")).conversationId;
      },
    ],
    ["a conversation that does not exist", () => newId("conv")],
    ["a text that is no id", () => "x"],
    ["a number that JavaScript cannot represent", () => unsafe],
    ["nothing", () => undefined],
  ])("names %s", async (_, create) => {
    const lead = await aLead(account);
    await sendWith(await create(), lead.id);
  });

  test.each<[string, Item]>([
    ["is not active", { status: 1 }],
    ["has a time of its last message far ahead", { activeAt: "9999-12-31T23:59:59.999Z" }],
    ["has no time", { activeAt: undefined }],
    ["has a text as its time", { activeAt: "zzz" }],
    ["has a time in another format", { activeAt: "Jan 1 2020" }],
    ["has no number of messages", { messageCount: undefined }],
    ["has a text as its number of messages", { messageCount: "1" }],
    [
      "has the largest number of messages",
      { messageCount: NumberValueImpl.from(`9.9${"9".repeat(30)}E125`) },
    ],
    ["has nothing", { status: undefined, leadId: undefined, channel: undefined }],
  ])("names a conversation that %s", async (_, values) => {
    const lead = await aLead(account);
    const item = conversationItem(account, newConversation(lead.id));
    plant({ ...item, ...values });
    expect(await sendWith(item.id, lead.id)).not.toBe(item.id);
  });
});

describe("a request is not carried out if the record of its Idempotency-Key", () => {
  test.each<[string, Item]>([
    ["has no fields", { fingerprint: undefined, ids: undefined, expiresAt: undefined }],
    ["has no ids", { ids: undefined }],
    ["has a text as its ids", { ids: "x" }],
    ["has a number as its ids that JavaScript cannot represent", { ids: unsafe }],
    ["has ids of another kind", { ids: { id: "conv_1", conversationId: 1 } }],
    ["has no fingerprint", { fingerprint: undefined }],
    ["never expires", { expiresAt: "x" }],
    ["expires at a time that cannot be converted", { expiresAt: { valueOf: "x", toString: "x" } }],
  ])("%s", async (_, values) => {
    const lead = await aLead(account);
    const requests = {
      "create-lead": { name: "Ada Lovelace" },
      "send-message": { leadId: lead.id, channel: "sms", message: "Hello" },
    };
    for (const route of ["create-lead", "send-message"] as const) {
      const request = { account, headers: { "idempotency-key": `of-${route}` }, body: requests[route] };
      const { body } = await call(route, request);
      const key = idempotencyKey(account, route, `of-${route}`);
      const record = await readItem(key);
      plant({ ...record, ...values });
      for (let attempt = 0; attempt < 2; attempt++) {
        const { status, problem } = await call(route, request);
        expect([status, problem.code]).toEqual([422, "idempotency_key_reused"]);
      }
      expect(logged).toContainEqual(expect.objectContaining({ event: "invalid item", ...key }));
      // An expired record does not count, as always.
      plant({ ...record, ids: undefined, expiresAt: 1 });
      const again = await call(route, request);
      expect([again.status, again.body.id === body.id]).toEqual([201, false]);
    }
    expect(logged).toHaveLength(2);
  });
});

test("the other events of a batch are composed in spite of an item that fails for another reason, which is logged", () => {
  const [item, first, last] = [aStoredLead(), aStoredLead(), aStoredLead()];
  const failing = streamRecord(undefined, item);
  Object.assign(failing.dynamodb?.NewImage ?? {}, { status: { X: "of no type" } });
  const events = toEvents([streamRecord(undefined, first), failing, streamRecord(undefined, last)]);
  expect(events.map(({ id }) => id)).toEqual([first.id, last.id]);
  const { pk, sk } = item;
  expect(logged).toMatchObject([{ event: "invalid item", pk, sk, cause: { name: "Error" } }]);
});
