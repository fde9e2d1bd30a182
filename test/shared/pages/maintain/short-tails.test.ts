import { beforeEach, expect, test, vi } from "vitest";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { newId } from "../../../../shared/ids.ts";
import { countedChanges } from "../../../../shared/pages/maintain/changes.ts";
import {
  maintainLists,
  type ShortTails,
  type Unsettled,
} from "../../../../shared/pages/maintain/maintain-lists.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { streamRecord } from "../../../support/tables/stream-record.ts";
import { throttled, useTable } from "../../../support/tables/watched-table.ts";

const owner = { account: "acme", list: countedLists.lead };

/** An execution environment of the maintainer. */
const environment = () => ({
  shortTails: new Map() as ShortTails,
  unsettled: new Map() as Unsettled,
  wait: async () => {},
});

const table = useTable();
let first: ReturnType<typeof environment>;
beforeEach(() => (first = environment()));

/** Writes leads that are old enough to be counted. @returns their records */
const create = (count: number, padding = 0) =>
  Array.from({ length: count }, () => {
    const id = newId("lead", Date.now() - 10_000);
    const lead: Lead = { id, name: "x", score: 0, status: "new", tags: [], createdAt: "", updatedAt: "" };
    const item = { ...leadItem(owner.account, lead), padding: "x".repeat(padding) };
    table.memory.put(item);
    return streamRecord(undefined, item, Date.now() - 10_000);
  });

/** The stream delivers records to an environment. @returns how many calls it made */
async function deliver(records: ReturnType<typeof create>, to = first): Promise<number> {
  const deadline = Date.now() + 60_000;
  const { calls } = await table.watch(() => maintainLists(countedChanges(records), { ...to, deadline }));
  return calls.length;
}

const isCounted = async () => (await readRoot(owner)) !== undefined;

test("a list is read once, and again when its tail may be so long that counting it pays", async () => {
  expect(await deliver(create(1))).toBe(2);
  for (let n = 2; n <= limits.tail; n++) expect(await deliver(create(1))).toBe(0);
  expect(await isCounted()).toBe(false);
  expect(await deliver(create(1))).toBeGreaterThan(2);
  expect(await isCounted()).toBe(true);
});

test("a list is read again after five minutes, when another environment may have left it unfinished", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  await deliver(create(1));
  vi.advanceTimersByTime(300_000);
  expect(await deliver(create(1))).toBe(0);
  vi.advanceTimersByTime(1);
  expect(await deliver(create(1))).toBe(2);
  expect(await deliver(create(1))).toBe(0);
});

test("a list whose rows are large is read again after fewer of them", async () => {
  expect(await deliver(create(1, 15_000))).toBe(2);
  expect(await deliver(create(1, 15_000))).toBe(0);
  expect(await deliver(create(1, 15_000))).toBeGreaterThan(0);
  expect(await isCounted()).toBe(true);
});

test("a list with a changed row, or with a record of unknown size, is read", async () => {
  await deliver(create(1));
  const [record] = create(1);
  const { NewImage } = record?.dynamodb ?? {};
  const deleted = { dynamodb: { ...record?.dynamodb, NewImage: undefined, OldImage: NewImage } };
  expect(await deliver([deleted] as never)).toBeGreaterThan(0);
  await deliver(create(1));
  const [unknown] = create(1);
  expect(await deliver([{ dynamodb: { ...unknown?.dynamodb, SizeBytes: undefined } }])).toBe(2);
});

test("environments that know nothing of each other, and records that come twice, leave a tail of each environment at most", async () => {
  const environments = [first, environment()];
  for (let n = 0; n < 3 * limits.tail; n++) {
    const records = create(1);
    await deliver(records, environments[n % 2]);
    if (n % 5 === 0) await deliver(records, environments[n % 2]);
    const { watermark = "" } = (await readRoot(owner)) ?? {};
    const tail = [...table.memory.items()].filter(
      ({ pk, sk }) => pk === "LEAD#acme" && String(sk) >= watermark,
    );
    expect(tail.length).toBeLessThanOrEqual(2 * limits.tail);
  }
  expect(await isCounted()).toBe(true);
});

test("a list that could not be read is read with the next row", async () => {
  await deliver(create(limits.tail));
  table.before = () => {
    throw throttled();
  };
  const deadline = Date.now();
  await maintainLists(countedChanges(create(1)), { ...first, deadline });
  table.before = () => {};
  await deliver(create(1));
  expect(await isCounted()).toBe(true);
});
