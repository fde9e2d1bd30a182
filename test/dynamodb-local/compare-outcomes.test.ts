import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compareOutcomes, mergeRuns } from "./compare-outcomes.ts";
import { differences } from "./differences.ts";

const difference = {
  test: "a.test.ts > suite > counts",
  reason: "It counts twice.",
  source: "https://example",
};
const counts = { file: "a.test.ts", test: "suite > counts" };

describe("the outcomes of tests", () => {
  test("that failed as known, passed or were skipped are no fault", () => {
    const outcomes = [
      { ...counts, state: "failed" },
      { file: "a.test.ts", test: "lists", state: "passed" },
      { file: "a.test.ts", test: "waits", state: "skipped" },
    ] as const;
    expect(compareOutcomes(outcomes, [difference])).toEqual({
      ...{ passed: 1, skipped: 1, known: [difference], unknown: [], gone: [] },
    });
  });

  test("that failed otherwise are unknown, outside of tests too", () => {
    const outcomes = [
      { ...counts, state: "failed" },
      { file: "a.test.ts", test: "lists", state: "failed" },
      { file: "b.test.ts", state: "failed" },
    ] as const;
    expect(compareOutcomes(outcomes, [difference]).unknown).toEqual([
      "a.test.ts > lists",
      "b.test.ts > outside of its tests",
    ]);
  });

  test.each([
    ["passed", [{ ...counts, state: "passed" }]],
    ["was renamed", [{ ...counts, test: "counts", state: "passed" }]],
  ] as const)("report a known difference whose test %s", (_, outcomes) => {
    expect(compareOutcomes(outcomes, [difference]).gone).toEqual([difference.test]);
  });

  test("ask for no difference in a file that did not run", () => {
    const outcomes = [{ file: "b.test.ts", test: "lists", state: "passed" }] as const;
    expect(compareOutcomes(outcomes, [difference]).gone).toEqual([]);
  });
});

test("a test that failed has passed if it passed in another run of its file", () => {
  const outcome = (test: string, state: "passed" | "failed", file = "a.test.ts") => ({ file, test, state });
  const first = [outcome("one", "failed"), outcome("two", "passed"), outcome("three", "failed")];
  const again = [outcome("one", "passed"), outcome("two", "failed"), outcome("three", "failed")];
  const other = outcome("four", "failed", "b.test.ts");
  expect(mergeRuns([...first, other], again)).toEqual([
    ...[other, outcome("one", "passed"), outcome("two", "passed"), outcome("three", "failed")],
  ]);
});

test("each known difference names a test file", () => {
  const root = join(import.meta.dirname, "../..");
  const files = differences.map(({ test }) => test.split(" > ", 1)[0] ?? "");
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
