import { beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { maintainLists, type Unsettled } from "../../../../shared/pages/maintain/maintain-lists.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { countedRows } from "../../../support/cases/expect-counted.ts";
import { seeded } from "../../../support/cases/random.ts";
import { storedLead } from "../../../support/tables/stored.ts";
import { throttled, useTable } from "../../../support/tables/watched-table.ts";

const table = useTable();
let now: number;
let unsettled: Unsettled;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  vi.spyOn(Math, "random").mockImplementation(seeded(1));
  unsettled = new Map();
});

function advance(by: number): void {
  now += Math.ceil(by);
  vi.setSystemTime(now);
}

/** Writes leads of an account, a millisecond apart. @returns their keys */
function add(account: string, count: number, age = 0, name = "x"): string[] {
  return Array.from({ length: count }, (_, i) => {
    const id = newId("lead", now - age - count + i);
    table.memory.put(storedLead(id, account, { name }));
    return id;
  });
}

/** Runs a maintainer for a batch. @returns the keys that it reports, and how long it waited for rows to settle */
async function maintain(batch: Record<string, string[]>, time = 60_000) {
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    if (milliseconds >= 1000) waits.push(milliseconds);
    advance(milliseconds);
  };
  const changes = Object.entries(batch).map(([account, keys]) => ({
    owner: { account, list: countedLists.lead },
    rows: keys.map(
      (key) => ({ key, sequenceNumber: `${account} ${key}`, kind: "created", labelKeys: [] }) as const,
    ),
  }));
  const unfinished = await maintainLists(changes, { deadline: now + time, wait, unsettled });
  return {
    reported: unfinished.flatMap(({ rest }) => rest.map(({ sequenceNumber }) => sequenceNumber)),
    waits,
  };
}

const throttleAccount = (account: string) => {
  table.before = (command) => {
    if (JSON.stringify(command).includes(`#${account}`)) throw throttled();
  };
};

describe("in a batch of several accounts", () => {
  test("all other accounts are counted although one is always throttled, and only that one is reported", async () => {
    const hot = add("hot", 500, 10_000);
    const others = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`other-${i}`, add(`other-${i}`, 20, 10_000)]),
    );
    throttleAccount("hot");
    const start = now;
    const { reported } = await maintain({ hot, ...others });
    expect(reported).toEqual(hot.map((key) => `hot ${key}`));
    expect(now - start).toBeLessThanOrEqual(20_000);
    table.before = () => {};
    for (const account of Object.keys(others)) expect(await countedRows(account)).toBe(20);
    expect(await countedRows("hot")).toBe(0);
    expect(await maintain({ hot })).toEqual({ reported: [], waits: [] });
    expect(await countedRows("hot")).toBe(500);
  });

  test("the longest list starts last", async () => {
    const accounts = Array.from({ length: 30 }, (_, i) => `a${i}`);
    const batch = { hot: add("hot", 900, 10_000) } as Record<string, string[]>;
    for (const account of accounts) batch[account] = add(account, 17, 10_000);
    const { calls } = await table.watch(() => maintain(batch));
    const touched = calls.map(({ input }) => JSON.stringify(input).match(/#(a\d+|hot)["#]/)?.[1]);
    const order = [...new Set(touched)];
    expect(order).toHaveLength(31);
    expect(order.at(-1)).toBe("hot");
  });
});

describe("rows that are too young to be counted", () => {
  test.each([
    ["if they are few", () => add("a", 16), undefined, 0],
    ["beyond the deadline", () => add("a", 50), limits.allowedLateness, 1],
    [
      "if more than one page of a query follows them",
      () => {
        const keys = add("a", 50, 3000);
        add("a", 150, 0, "x".repeat(10_000));
        return keys;
      },
      undefined,
      1,
    ],
  ])("are not waited for %s", async (_, addRows, time, left) => {
    expect(await maintain({ a: addRows() }, time)).toEqual({ reported: [], waits: [] });
    expect(unsettled.size).toBe(left);
  });

  test("are not waited for while the stream has newer rows of the list, and the next batch counts them", async () => {
    const keys = add("a", 50, 100);
    const behind = add("a", 30);
    expect(await maintain({ a: keys })).toEqual({ reported: [], waits: [] });
    expect(await countedRows("a")).toBe(0);
    expect((await maintain({ a: behind })).waits).toEqual([limits.allowedLateness]);
    expect(await countedRows("a")).toBe(80);
  });

  test("are waited for although a list of an earlier batch can never be counted", async () => {
    await maintain({ broken: add("broken", 50) }, limits.allowedLateness);
    advance(5000);
    table.before = (command) => {
      if (JSON.stringify(command).includes("#broken")) throw new Error("on purpose");
    };
    const waits = [];
    for (let batch = 0; batch < 3; batch++) {
      advance(5000);
      waits.push(...(await maintain({ young: add("young", 50) })).waits);
    }
    // The first of these batches still tries the broken list.
    expect(waits).toEqual([limits.allowedLateness, limits.allowedLateness]);
    expect(await countedRows("young")).toBe(150);
    expect(unsettled.size).toBe(0);
  });

  test("are tried again by later batches while their list is throttled", async () => {
    await maintain({ hot: add("hot", 50) }, limits.allowedLateness);
    advance(5000);
    throttleAccount("hot");
    await maintain({ other: add("other", 1, 10_000) });
    table.before = () => {};
    await maintain({ other: add("other", 1, 10_000) });
    expect(await countedRows("hot")).toBe(50);
  });

  test("are not read again by batches of other accounts before they are old enough", async () => {
    const young = add("young", 50, 100);
    add("young", 1);
    await maintain({ young });
    advance(1000);
    const { calls } = await table.watch(() => maintain({ other: add("other", 1, 10_000) }, 1500));
    expect(calls.filter(({ input }) => JSON.stringify(input).includes("young"))).toEqual([]);
    expect(unsettled.size).toBe(1);
  });
});
