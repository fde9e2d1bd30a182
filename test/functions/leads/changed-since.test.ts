import { GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { createClient } from "../../../docs/client/client.ts";
import { type Position, syncLeads } from "../../../docs/client/recipes.ts";
import { createOrUpdateLead } from "../../../shared/domain/create-lead.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName as TableName } from "../../../shared/dynamodb/table-client.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { countedLeads } from "../../support/cases/history.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";
import { call } from "../../support/requests/call.ts";

/** How late the index shows the changes of the n-th lead, in milliseconds: a second, or eight for every tenth lead. */
const lateness = (n: number) => (n % 10 === 0 ? 8_000 : 1_000);

type Store = Parameters<typeof syncLeads>[2];

/** Synchronizes the changes since a position by the client's recipe, with requests to `list`. @returns the next position */
const sync = (
  list: (query: string) => ReturnType<typeof call<"list-leads">>,
  since: Position,
  store: Store,
) => {
  const fetch = async (url: string | URL | Request) =>
    Response.json((await list(new URL(String(url)).search.slice(1))).body);
  return syncLeads(createClient({ url: "http://127.0.0.1", key: "key", fetch }), since, store);
};

test("a synchronization misses none of 50 changes a second, even if the index is late", async () => {
  const history = await countedLeads(200);
  const { account, table, rows } = history;
  const ids = [...rows.keys()];
  const late = new MemoryTable();
  late.restore(table.memory.snapshot());
  let waiting: { readonly at: number; readonly item: Item }[] = [];
  table.shown = (command) => {
    if (!(command instanceof QueryCommand && command.input.IndexName)) return table.memory;
    for (const { at, item } of waiting) if (at <= history.now) late.put(item);
    waiting = waiting.filter(({ at }) => at > history.now);
    return late;
  };
  const changes = [...rows.values()].map(({ id, updatedAt }) => ({ id, updatedAt }));
  const change = async () => {
    const n = changes.length;
    const id = ids[(n * 37) % ids.length] ?? "";
    history.advance(20);
    const { record } = await createOrUpdateLead(account, { id, score: n % 100, tags: [`${n}`] });
    const { output } = table.memory.execute(new GetCommand({ TableName, Key: leadKey(account, id) }));
    waiting.push({ at: history.now + lateness(ids.indexOf(id)), item: output.Item as Item });
    changes.push({ id, updatedAt: record.updatedAt });
  };
  // While a request of the client is under way, leads change, and move from one page to another.
  const list = async (query: string) => {
    for (let n = 0; n < 5; n++) await change();
    return call("list-leads", { account, query });
  };
  const copy = new Map<string, Lead>();
  const store: Store = async (leads) => void leads.map((lead) => copy.set(lead.id, lead));
  const missed = () => {
    const visible = new Date(history.now - 10_000).toISOString();
    return changes.filter(
      ({ id, updatedAt }) => updatedAt <= visible && updatedAt > (copy.get(id)?.updatedAt ?? ""),
    );
  };
  // The first look finds leads that are older than the minute that the next look reads again.
  let position: Position = { newest: "1970-01-01T00:01:00Z", seen: [] };
  for (let look = 0; look < 9; look++) {
    for (let n = 0; n < 100; n++) await change();
    position = await sync(list, position, store);
    expect(missed()).toEqual([]);
  }
  expect(changes.length).toBeGreaterThan(1000);
});

test("synchronizing the 20 of 10,000 leads that changed takes one request and at most three read units", async () => {
  const history = await countedLeads(10_000);
  const { account, table } = history;
  const newest = new Date(history.now).toISOString();
  history.advance(120_000);
  const ids = [...history.rows.keys()].filter((_, n) => n % 500 === 0);
  for (const id of ids) await createOrUpdateLead(account, { id, score: 1 });
  await history.deliver();
  const requests: string[] = [];
  const changed: string[] = [];
  const list = (query: string) => {
    requests.push(query);
    return call("list-leads", { account, query });
  };
  const store: Store = async (leads) => void changed.push(...leads.map(({ id }) => id));
  const { units } = await table.watch(() => sync(list, { newest, seen: [] }, store));
  expect([changed.sort(), requests.length]).toEqual([ids, 1]);
  expect(units).toBeLessThanOrEqual(3);
});
