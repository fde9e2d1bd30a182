import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { conversationItem } from "../../shared/domain/conversations.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { messageKey } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import type { OpenedConversation } from "../../shared/schemas/conversation-schemas.ts";
import { call } from "../support/call.ts";
import { WatchedTable } from "../support/watched-table.ts";

const year9000 = Date.UTC(9000, 0, 1);
const leadId = newId("lead");

let account: string;
let table: WatchedTable;
let logged: Item[];

beforeEach(() => {
  // Lists have three seconds, which a busy machine may need.
  vi.useFakeTimers({ toFake: ["Date"] });
  account = randomUUID();
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(line));
  table = new WatchedTable();
});

const list = (query: string) => table.watch(() => call("list-conversations", { account, query }));

/** The item of a conversation, whose id and last message are of a time. */
function aConversation(at: number, values: Item = {}): Item {
  const id = newId("conv", at);
  const last = { lastMessageAt: createdAt(id), messageCount: 1 };
  const item = conversationItem(account, { id, leadId, channel: "sms", status: "active", ...last });
  return { ...item, ...values };
}

describe("beside a flood of planted messages", () => {
  let id: string;
  let sent: string;

  beforeEach(() => {
    const conversation = aConversation(Date.now() - 1000);
    id = String(conversation.id);
    table.memory.put(conversation);
    sent = newId("msg", Date.now() - 1000);
    table.memory.put(aMessage(sent));
  });

  const aMessage = (sk: string): Item => ({
    ...messageKey(account, id, sk),
    ...{ id: sk, conversationId: id, leadId, channel: "sms", message: "Hello", createdAt: createdAt(sent) },
  });

  const open = async () => {
    const { result, units } = await list(`id=${id}&include=messages&messageLimit=1`);
    const [conversation] = (result.body.data ?? []) as OpenedConversation[];
    return { status: result.status, ids: conversation?.messages?.map((message) => message.id), units };
  };

  test("of the year 9000, one message costs what it does without", async () => {
    const before = await open();
    expect(before).toMatchObject({ status: 200, ids: [sent] });
    for (let n = 0; n < 3000; n++) table.memory.put(aMessage(newId("msg", year9000 + n)));
    expect(await open()).toEqual(before);
  });

  test("of now, one is found as long as a list may read them, and is busy then", async () => {
    const plant = (count: number, message: unknown) => {
      for (let n = 0; n < count; n++) table.memory.put({ ...aMessage(newId("msg")), message });
    };
    plant(3000, 1);
    const { status, ids, units } = await open();
    expect([status, ids]).toEqual([200, [sent]]);
    expect(units).toBeLessThan(400);
    plant(1300, "x".repeat(10_000));
    const busy = await open();
    expect(busy.status).toBe(503);
    expect(logged.map(({ event }) => event)).toEqual(["invalid item", "request failed"]);
  });
});

describe("beside planted rows of 390 KB, a list by the last message", () => {
  const channel = "x".repeat(195_000);
  const queries = ["sort=-lastMessageAt", "sort=-lastMessageAt&status=active"];
  let ids: unknown[];

  beforeEach(() => {
    const newest = Date.now() - 10_000;
    const rows = Array.from({ length: 30 }, (_, n) => aConversation(newest - n));
    for (const row of rows) table.memory.put(row);
    ids = rows.map(({ id }) => id);
  });

  test("costs what it does without, if they are of the future", async () => {
    const before = [];
    for (const query of queries) before.push(await list(query));
    for (let n = 0; n < 24; n++) {
      const lastMessageAt = new Date(year9000 + n).toISOString();
      table.memory.put(aConversation(year9000 + n, { channel, leadId: channel, lastMessageAt }));
    }
    for (const [n, query] of queries.entries()) {
      const { result, units } = await list(query);
      expect([result.body, units]).toEqual([before[n]?.result.body, before[n]?.units]);
    }
  });

  test("passes them by as long as it may read them, and is busy then", async () => {
    const plant = (count: number) => {
      for (let n = 0; n < count; n++)
        table.memory.put(
          aConversation(Date.now(), { sk: `conv_é${randomUUID()}`, channel, leadId: channel }),
        );
    };
    plant(15);
    for (const query of queries) {
      const { result } = await list(query);
      expect([result.status, result.body.data.map(({ id }) => id)]).toEqual([200, ids.slice(0, 20)]);
    }
    plant(30);
    for (const query of queries) expect((await list(query)).result.status).toBe(503);
  });
});

test("a flood of invalid leads is named once, and hides no other", async () => {
  const plant = (owner: string, count: number) => {
    for (let n = 0; n < count; n++) {
      const id = newId("lead");
      const lead = { id, name: "x", score: 0, status: "new" as const, tags: [], createdAt: createdAt(id) };
      table.memory.put({ ...leadItem(owner, lead), details: {} });
    }
  };
  const other = randomUUID();
  plant(account, 1500);
  plant(other, 1);
  for (let page = 1; page <= 15; page++)
    expect((await call("list-leads", { account, query: `limit=100&page=${page}` })).status).toBe(200);
  await call("list-leads", { account: other });
  expect(logged.map(({ event, pk }) => [event, pk])).toEqual(
    [account, other].map((owner) => ["invalid item", `LEAD#${owner}`]),
  );
});
