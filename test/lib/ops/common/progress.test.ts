import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type OnRows, withProgress } from "../../../../lib/ops/common/progress.ts";

let printed = "";

beforeEach(() => {
  printed = "";
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  const terminal = new Writable({
    write: (chunk, _, done) => {
      printed += chunk;
      done();
    },
  });
  const cursor = {
    isTTY: true,
    columns: 100,
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
  };
  vi.spyOn(process, "stderr", "get").mockReturnValue(Object.assign(terminal, cursor) as never);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Does work in steps, each with its rows and its seconds. @returns the texts of the bar */
async function show(total: () => number | Promise<number>, steps: readonly (readonly [number, number])[]) {
  await withProgress("Reading", total, async (onRows: OnRows) => {
    for (const [rows, seconds] of steps) {
      vi.advanceTimersByTime(1000 * seconds);
      onRows(rows);
    }
  });
  return printed.match(/Reading [^R]*/g) ?? [];
}

test("the time that is left does not follow the last rows alone", async () => {
  const texts = await show(
    () => 1000,
    [
      [100, 10],
      [100, 10],
      [1, 1],
      [99, 1],
    ],
  );
  const left = texts.map((text) => /· (\w+) left/.exec(text)?.[1]);
  expect([...new Set(left)]).toEqual(["2m", "1m", "52s"]);
});

test("nothing is shown before the first rows, and the total is never below them", async () => {
  const texts = await show(() => 0, [[5, 1]]);
  expect(printed).not.toContain("0 of 0");
  expect(texts.at(-1)).toMatch(/100 % · 5 of 5 rows · 0ms left · 5\/s/);
  printed = "";
  expect(await show(() => 0, [])).toEqual([]);
});

test("an empty list before the first rows ends no work", async () => {
  const texts = await show(
    () => 20,
    [
      [0, 1],
      [20, 1],
    ],
  );
  expect(texts.at(-1)).toContain("20 of 20 rows");
});

test("a total that cannot be read hinders no work", async () => {
  const texts = await show(() => Promise.reject(new Error("denied")), [[7, 1]]);
  expect(texts.at(-1)).toContain("7 of 7 rows");
});
