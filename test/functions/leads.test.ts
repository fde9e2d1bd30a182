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

test("times can be before and after all rows, and in any offset", async () => {
  const { createdAt } = await aLead("acme");
  const total = async (createdAfter: string, createdBefore: string) => {
    const query = new URLSearchParams({ createdAfter, createdBefore }).toString();
    return (await call("list-leads", { query })).body.pagination.total;
  };
  const [first, last] = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"];
  expect(await total(first, last)).toBe(1);
  expect(await total(last, last)).toBe(0);
  const inIndia = (time: number) => new Date(time + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
  expect(await total(inIndia(Date.parse(createdAt)), last)).toBe(1);
  expect(await total(inIndia(Date.parse(createdAt) + 1), last)).toBe(0);
  expect(await total(first, inIndia(Date.parse(createdAt)))).toBe(0);
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

const spellings = [
  ...["whatsapp", "WhatsApp ", "\u00a0whatsapp", "whats\u200bapp", "whatsapp\u3164", "what\u00adsapp\ufe0f"],
  ...["\uff37\uff48\uff41\uff54\uff53\uff21\uff50\uff50", "\u2800whatsapp\ufff9"],
];

test("spellings that look alike are one source, one channel and one conversation", async () => {
  const leads = await Promise.all(spellings.map((source) => aLead("acme", { source })));
  expect(new Set(leads.map(({ source }) => source))).toEqual(new Set(["whatsapp"]));
  const messages = [];
  for (const channel of spellings) messages.push(await aMessage("acme", leads[0]?.id ?? "", channel));
  expect(new Set(messages.map(({ channel, conversationId }) => `${channel} ${conversationId}`)).size).toBe(1);
  for (const name of spellings.map(encodeURIComponent)) {
    expect((await call("list-leads", { query: `source=${name}` })).body.pagination.total).toBe(8);
    const { data } = (await call("list-conversations", { query: `channel=${name}` })).body;
    expect(data).toMatchObject([{ channel: "whatsapp", messageCount: 8 }]);
  }
});

test("ids have blanks around their commas", async () => {
  const [a, b, c] = [await aLead("acme"), await aLead("acme"), await aLead("acme")].map(({ id }) => id);
  const { data } = (await call("list-leads", { query: `id=${a},+${b}%20,%20${c}` })).body;
  expect(new Set(data.map(({ id }) => id))).toEqual(new Set([a, b, c]));
});
