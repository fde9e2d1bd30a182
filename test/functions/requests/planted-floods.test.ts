import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { call } from "../../support/requests/call.ts";
import { startedConversation } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const year9000 = Date.UTC(9000, 0, 1);
const leadId = newId("lead");

let account: string;
const table = useTable();

beforeEach(() => {
  // Lists have three seconds, which a busy machine may need.
  vi.useFakeTimers({ toFake: ["Date"] });
  account = randomUUID();
  vi.spyOn(console, "error").mockReturnValue();
});

const list = (query: string) => table.watch(() => call("list-conversations", { account, query }));

/** The item of a conversation whose id and last message have this time. */
function aConversation(at: number, values: Item = {}): Item {
  const id = newId("conv", at);
  const item = conversationItem(account, startedConversation(id, { leadId, channel: "sms" }));
  return { ...item, ...values };
}

describe("among planted rows of 390 KB, a list by the last message", () => {
  const channel = "x".repeat(195_000);
  const queries = ["sort=-lastMessageAt", "sort=-lastMessageAt&status=active"];
  let ids: unknown[];

  beforeEach(() => {
    const newest = Date.now() - 10_000;
    const rows = Array.from({ length: 30 }, (_, n) => aConversation(newest - n));
    for (const row of rows) table.memory.put(row);
    ids = rows.map(({ id }) => id);
  });

  test("costs the same as without them, if they are in the future", async () => {
    const before = [];
    for (const query of queries) before.push(await list(query));
    for (let n = 0; n < 24; n++) {
      const activeAt = new Date(year9000 + n).toISOString();
      table.memory.put(aConversation(year9000 + n, { channel, leadId: channel, activeAt }));
    }
    for (const [n, query] of queries.entries()) {
      const { result, units } = await list(query);
      expect([result.body, units]).toEqual([before[n]?.result.body, before[n]?.units]);
    }
  });

  test("skips them while there are few, and is busy if it would have to read too many", async () => {
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
