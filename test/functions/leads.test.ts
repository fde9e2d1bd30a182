import { beforeEach, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { putLeads, useMemoryTable } from "../support/memory-leads.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { WatchedTable } from "../support/watched-table.ts";

beforeEach(() => void useMemoryTable());

test("a hundred ids take one call, and a unit each", async () => {
  const table = new WatchedTable();
  const items = putLeads(table.memory, "acme", 100);
  const ids = items.map(({ id }) => id);
  const { result, calls, units } = await table.watch(() =>
    call("list-leads", { query: `limit=100&id=${ids}` }),
  );
  expect(result.body.data.map(({ id }) => id)).toEqual(ids.reverse());
  expect(calls.map(({ name }) => name)).toEqual(["BatchGetCommand"]);
  expect(units).toBe(100);
});

test.each([
  ["LinkedIn", "linkedin"],
  ["ΟΔΟΣ", "οδος"],
  // The lower case of this character is two.
  ["İ".repeat(32), "i̇".repeat(32)],
  ["J̌", "ǰ"],
  ["Ⱥ".repeat(64), "ⱥ".repeat(64)],
])("a source or channel is stored in lower case, and found in any: %s", async (sent, stored) => {
  const lead = await aLead("acme", { source: sent });
  const message = await aMessage("acme", lead.id, sent);
  expect([lead.source, message.channel]).toEqual([stored, stored]);
  expect((await aMessage("acme", lead.id, stored)).conversationId).toBe(message.conversationId);
  for (const name of [sent, stored].map(encodeURIComponent)) {
    expect((await call("list-leads", { query: `source=${name}` })).body.data).toHaveLength(1);
    const query = `channel=${name}&status=ACTIVE`;
    expect((await call("list-conversations", { query })).body.data).toHaveLength(1);
  }
});

test("ids have blanks around their commas", async () => {
  const [a, b, c] = [await aLead("acme"), await aLead("acme"), await aLead("acme")].map(({ id }) => id);
  const { data } = (await call("list-leads", { query: `id=${a},+${b}%20,%20${c}` })).body;
  expect(new Set(data.map(({ id }) => id))).toEqual(new Set([a, b, c]));
});
