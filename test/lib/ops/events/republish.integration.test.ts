import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { eventTypeNames, parseTypes } from "../../../../lib/ops/events/events-command.ts";
import { readEvents, republish, type Selection } from "../../../../lib/ops/events/republish.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { storeConversation, storeErasedLead, storeLead } from "./support.ts";

const hour = 3_600_000;
const since = Date.UTC(2026, 5, 1);
const until = since + hour;
const always = { since: 0, until: since + 24 * hour, types: eventTypeNames };

async function readIds(selection: Selection): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of readEvents(selection, new Pace(1_000_000))) ids.push(id);
  return ids;
}

test("the items from a time to before another have events, also the messages of older conversations", async () => {
  const account = randomUUID();
  await storeLead(account, since - 1);
  const leads = [await storeLead(account, since), await storeLead(account, until - 1)];
  await storeLead(account, until);
  const [, , ...recent] = await storeConversation(account, [since - 2 * hour, since, until - 1, until]);
  const [, , last] = await storeConversation(account, [since - hour, since]);
  const [started, first] = await storeConversation(account, [since, until]);
  await storeConversation(account, [since - hour + 1, since - 1]);
  await storeConversation(account, [until, until]);
  const selection = { accounts: [account], since, until, types: eventTypeNames };
  expect(await readIds(selection)).toEqual([...leads, started, ...recent.slice(0, 2), last, first]);
  expect(await readIds({ ...selection, types: ["lead.created"] })).toEqual(leads);
  expect(await readIds({ ...selection, types: ["conversation.started"] })).toEqual([started]);
  expect(await readIds({ ...selection, types: ["message.sent"] })).toEqual([
    ...recent.slice(0, 2),
    last,
    first,
  ]);
});

test("an imported lead has no event, and neither have other accounts", async () => {
  const account = randomUUID();
  const id = await storeLead(account, since);
  await storeLead(account, since, { imported: "run" });
  await storeLead(`${account}-2`, since);
  await storeConversation(`${account}-2`, [since]);
  expect(await readIds({ ...always, accounts: [account] })).toEqual([id]);
});

test("leads that were erased from a time to before another have events, by the time of their erasure", async () => {
  const account = randomUUID();
  const erased: string[] = [];
  for (const at of [since - 1, since, until - 1, until])
    erased.push(await storeErasedLead(account, at, since - 24 * hour + erased.length));
  await storeErasedLead(account, since, since, { imported: "run" });
  const selection = { accounts: [account], since, until, types: parseTypes("lead.erased") };
  expect(await readIds(selection)).toEqual(erased.slice(1, 3));
  expect(await readIds({ ...selection, types: eventTypeNames })).toEqual(erased.slice(1, 3));
  expect(await readIds({ ...selection, types: ["lead.created"] })).toEqual([]);
});

test("events are put ten at a time, no faster than the rate, and reported when the bus has them", async () => {
  const account = randomUUID();
  const ids: string[] = [];
  for (let i = 0; i < 35; i++) ids.push(await storeLead(account, since + i));
  const batches: string[][] = [];
  const reported: unknown[] = [];
  const started = performance.now();
  const counts = await republish(
    { ...always, accounts: [account] },
    {
      pace: new Pace(1_000_000),
      rate: 50,
      put: async (events) => void batches.push(events.map(({ id }) => id)),
      onSent: (events) => void reported.push([events, batches.length]),
    },
  );
  expect(batches).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20, 30), ids.slice(30)]);
  expect(reported).toEqual([
    [10, 1],
    [10, 2],
    [10, 3],
    [5, 4],
  ]);
  // Three pauses of 200 ms.
  expect(performance.now() - started).toBeGreaterThan(590);
  expect(counts).toEqual({ "lead.created": 35 });
});
