import { isDeepStrictEqual } from "node:util";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { nodePrefix } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { repair } from "../../../../shared/pages/audit/repair.ts";
import { verify } from "../../../../shared/pages/audit/verify.ts";
import { keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, encodeEntries } from "../../../../shared/pages/tree/entry.ts";
import { treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { rootFields, validRoot } from "../../../../shared/pages/tree/valid-tree.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { treeOf } from "../../../support/cases/expect-counted.ts";
import { LeadHistory } from "../../../support/cases/history.ts";
import { part } from "../../../support/cases/part.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { smallLimits } from "../../../support/requests/small-limits.ts";

/*
 * Writes that a role allows and no maintainer makes: extreme values of each field of a root, and of nodes. Lists stay exact
 * if the root or the node is invalid. If it is valid and only its rows differ from the table, the audit finds it.
 */

const source = "web";
const limits = { ...smallLimits, nodeEntries: 3 };

skipWaits();

let history: LeadHistory;
/** Restores the items as they were before a plant. */
let restore: () => void;
/** What each list costs, in read units: before and after a change, and without trees. */
let costs: Readonly<Record<"counted" | "changed" | "plain", readonly number[]>>;

beforeEach(async () => {
  vi.spyOn(console, "error").mockReturnValue();
  history = new LeadHistory();
  for (let i = 0; i < 48; i++)
    history.add({
      ...{ age: 60_000 - 100 * i, padding: 500 },
      ...{ source: i % 12 === 11 ? "ads" : source, status: i % 3 === 0 ? "booked" : "new" },
    });
  await history.deliver(limits);
  history.advance(100_000);
  restore = history.save();
  const counted = (await readLists()).units;
  await change();
  history.add({ source });
  const changed = (await readLists()).units;
  restore();
  for (const labelKey of [undefined, source]) history.table.memory.delete(itemsOf(labelKey, "root")[0] ?? {});
  costs = { counted, changed, plain: (await readLists()).units };
  restore();
});

/** Changes a row and adds others, which are counted and fed. */
async function change(): Promise<void> {
  history.setStatus([...history.rows.keys()][3] ?? "", "qualified");
  history.addMany(8, { source, padding: 4000 });
  history.advance(10_000);
  await history.deliver(limits);
}

/** The items of a tree whose names begin with `name`. */
function itemsOf(labelKey: string | undefined, name: string): Item[] {
  const { pk } = treeKey(treeOf(history, labelKey), "");
  const items = [...history.table.memory.items()];
  return items.filter((item) => item.pk === pk && String(item.sk).startsWith(name));
}

/** Reads lists with each filter, page by page. @returns those that are wrong, and what each costs */
async function readLists() {
  const rows = [...history.rows.values()];
  const window = { createdAfter: rows[8]?.createdAt ?? "", createdBefore: rows[30]?.createdAt ?? "" };
  const filters: readonly (Partial<Lead> & Partial<typeof window>)[] = [
    ...([{}, { status: "booked" }, { source }, { source, status: "new" }, window] as const),
  ];
  const wrong: string[] = [];
  const units: number[] = [];
  for (const filter of filters)
    for (const page of [1, 3, 9]) {
      const request = { page, limit: 3 };
      const { createdAfter = "", createdBefore = "~", ...fields } = filter;
      const all = history.expected(fields, { page: 1, limit: 1000 }).data;
      const listed = all.filter((row) => row.createdAt >= createdAfter && row.createdAt < createdBefore);
      const data = listed.slice((page - 1) * 3, page * 3);
      const read = await history.table.watch(() => history.list(filter, request));
      const expected = { data, pagination: { ...request, total: listed.length } };
      if (!isDeepStrictEqual(read.result, expected)) wrong.push(JSON.stringify({ filter, page }));
      units.push(read.units);
    }
  return { wrong, units };
}

/** Verifies the counts, and repairs what is wrong. @returns whether anything was wrong */
async function isFound(): Promise<boolean> {
  const reading = { pace: new Pace(1e9) };
  const { findings } = await verify(history.owner, reading);
  const wait = async (milliseconds: number) => history.advance(milliseconds);
  await repair(history.owner, findings, { deadline: Number.POSITIVE_INFINITY, limits, wait });
  expect((await verify(history.owner, reading)).findings).toEqual([]);
  return findings.length > 0;
}

/** Matches a cost that is at most this one, except for a node that was split. */
const noMore = (units: number) => expect.toSatisfy((cost: number) => cost <= units + 1);

/** The most units that a planted item costs: it is read, and with the root at a second look, at both ends of a window. */
const extra = (item: Item = {}) => 8 + 3 * Math.ceil(JSON.stringify(item).length / 4096);

/**
 * Checks what lists, the maintainer and verify do with planted items.
 *
 * @param plants the planted items by name; undefined for a missing item
 * @param isWellFormed whether nothing but the rows of an item can be wrong
 */
async function expectHealed(
  original: Item | undefined,
  plants: Readonly<Record<string, Item | undefined>>,
  isWellFormed: (item: Item, name: string) => boolean,
): Promise<void> {
  const others = Object.entries(plants).filter(([, item]) => !isDeepStrictEqual(item, original));
  for (const [name, item] of part(others, 4, expect.getState().currentTestName)) {
    const plant = () => {
      restore();
      if (item) history.table.memory.put(item);
      else history.table.memory.delete(original ?? {});
    };
    const may = item !== undefined && isWellFormed(item, name);

    plant();
    const { wrong, units } = await readLists();
    const tooMuch = (most: (i: number) => number) => units.filter((cost, i) => cost > most(i));
    const { counted, changed, plain } = costs;
    const over = tooMuch((i) => (plain[i] ?? 0) + (counted[i] ?? 0) + extra(item));
    expect({ name, over, wrong: may ? [] : wrong }).toEqual({ name, over: [], wrong: [] });
    const isWorse = wrong.length > 0 || tooMuch((i) => counted[i] ?? 0).length > 0;
    expect([name, (await isFound()) || !isWorse]).toEqual([name, true]);
    expect([name, await readLists()]).toEqual([name, { wrong: [], units: counted.map(noMore) }]);

    plant();
    await change();
    const later = (await readLists()).wrong;
    expect([name, (await isFound()) || later.length === 0]).toEqual([name, true]);
    history.add({ source });
    expect([name, await readLists()]).toEqual([name, { wrong: [], units: changed.map(noMore) }]);
  }
}

/** Values of a field, by what they are. */
function extremes(): Readonly<Record<string, unknown>> {
  const { list } = history.owner;
  const rows = [...history.rows.keys()];
  return {
    ...{ missing: undefined, null: null, map: { toString: "x" }, "~": "~", empty: "" },
    ...{ 0: 0, 1: 1, "-1": -1, "2^50": 2 ** 50, "2^53": 2 ** 53 },
    ...{ first: rows[0], last: rows.at(-1), now: keyAt(list, history.now) },
    ...{ "a minute ahead": keyAt(list, history.now + 60_000), "year 9000": keyAt(list, Date.UTC(9000, 0)) },
  };
}

function isSound(labelKey: string | undefined, item: Item): boolean {
  try {
    return validRoot(treeOf(history, labelKey), item) !== undefined;
  } catch {
    return false;
  }
}

const map = <T, U>(values: Readonly<Record<string, T>>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

const filler = "x".repeat(380_000);
const fillers = {
  "another text": { filler },
  "a map": { filler: { filler } },
  "a long name": { ["x".repeat(60_000)]: 0 },
};

describe.each([
  ["a list", undefined],
  ["a source", source],
])("in the tree of %s,", (_, labelKey) => {
  test.each(Object.keys(rootFields))("any %s in the root", async (field) => {
    const [root] = itemsOf(labelKey, "root");
    await expectHealed(
      root,
      map(extremes(), (value) => ({ ...root, [field]: value })),
      (item) => isSound(labelKey, item),
    );
  });

  test("any entries in the root", async () => {
    const [root] = itemsOf(labelKey, "root");
    const all = decodeEntries(root?.entries) ?? [];
    const [first, last] = [all[0], all.at(-1)] as [Entry, Entry];
    const others = {
      "no row": [],
      "rows twice": [...all, ...all],
      "a row more": [...all.slice(0, -1), { ...last, start: last.start.replace(/..$/, "00") }, last],
      "a row less": all.slice(0, -1),
      "a node less": all.slice(1),
      "no nodes": [last],
      "many rows in a node": [{ ...first, buckets: [2 ** 40] }, ...all.slice(1)],
      "no rows in a node": [{ ...first, buckets: [] }, ...all.slice(1)],
      "many rows in a row": [...all.slice(0, -1), { ...last, buckets: [2 ** 40] }],
      "another bucket of a row": [...all.slice(0, -1), { ...last, buckets: [...Array(15).fill(0), 1] }],
    };
    const plants = {
      ...map(others, (entries) => ({ ...root, entries: encodeEntries(entries) })),
      ...map({ missing: undefined, text: "x", undecodable: new Uint8Array([7]) }, (entries) => ({
        ...root,
        entries,
      })),
      ...map(fillers, (values) => ({ ...root, ...values })),
    };
    await expectHealed(root, plants, (item) => isSound(labelKey, item));
  });

  test.each([1, 2])("any node of level %i", async (level) => {
    const nodes = itemsOf(labelKey, nodePrefix).filter(({ sk }) => String(sk).includes(`#${level}#`));
    const [node, next] = nodes as [Item, Item];
    const all = decodeEntries(node.entries) ?? [];
    const [behind] = decodeEntries(next.entries) ?? [];
    const [first, last] = [all[0], all.at(-1)] as [Entry, Entry];
    const others = {
      "no entries": [],
      "entries out of order": all.toReversed(),
      "an entry behind its end": [...all.slice(0, -1), { ...last, start: behind?.start ?? "" }],
      "other sums": [{ ...first, buckets: [0, 0, 0, 1] }, ...all.slice(1)],
      "an entry less": all.slice(1),
      "another row": [
        ...all.slice(0, -1),
        { ...last, start: last.start.replace(/.$/, (end) => (end === "0" ? "1" : "0")) },
      ],
    };
    const plants = {
      missing: undefined,
      "entries of another node": { ...node, entries: next.entries },
      "entries of no type": { ...node, entries: "x" },
      ...map(others, (entries) => ({ ...node, entries: encodeEntries(entries) })),
      ...map(fillers, (values) => ({ ...node, ...values })),
    };
    await expectHealed(node, plants, (_, name) => name === "another row");
  });

  test("small unknown attributes, which a later release may add, are not damage", async () => {
    const others = { text: "x", map: { list: [1, null, true] } };
    for (const item of [...itemsOf(labelKey, "root"), ...itemsOf(labelKey, nodePrefix)])
      history.table.memory.put({ ...item, ...others });
    expect(await readLists()).toEqual({ wrong: [], units: costs.counted });
    expect(await isFound()).toBe(false);
  });
});
