import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { call } from "../../support/requests/call.ts";
import { startedConversation } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const year9000 = Date.UTC(9000, 0, 1);
const queries = ["sort=-lastMessageAt", "sort=-lastMessageAt&status=active"];
const long = "x".repeat(195_000);
/** Fields that give a row 390 KB. */
const large = { channel: long, leadId: long };

let account: string;
let ids: string[];
const table = useTable();

/** Stores a conversation whose id and last message have this time. @returns its id */
function plant(at: number, values: Item = {}): string {
  const id = newId("conv", at);
  const item = conversationItem(account, startedConversation(id, { leadId: newId("lead"), channel: "sms" }));
  table.memory.put({ ...item, ...values });
  return id;
}

beforeEach(() => {
  // Lists have three seconds, which a busy machine may need.
  vi.useFakeTimers({ toFake: ["Date"] });
  account = randomUUID();
  vi.spyOn(console, "error").mockReturnValue();
  const newest = Date.now() - 10_000;
  ids = Array.from({ length: 30 }, (_, n) => plant(newest - n));
});

const list = (query: string) => table.watch(() => call("list-conversations", { account, query }));

test("a list by the last message costs the same as without large planted rows, if they are in the future", async () => {
  const before = [];
  for (const query of queries) before.push(await list(query));
  for (let n = 0; n < 24; n++)
    plant(year9000 + n, { ...large, activeAt: new Date(year9000 + n).toISOString() });
  for (const [n, query] of queries.entries()) {
    const { result, units } = await list(query);
    expect([result.body, units]).toEqual([before[n]?.result.body, before[n]?.units]);
  }
});

test("a list by the last message skips a few large planted rows, and is busy if it would have to read too many", async () => {
  const plantMany = (count: number) => {
    for (let n = 0; n < count; n++) plant(Date.now(), { ...large, sk: `conv_é${randomUUID()}` });
  };
  plantMany(15);
  for (const query of queries) {
    const { result } = await list(query);
    expect([result.status, result.body.data.map(({ id }) => id)]).toEqual([200, ids.slice(0, 20)]);
  }
  plantMany(30);
  for (const query of queries) expect((await list(query)).result.status).toBe(503);
});
