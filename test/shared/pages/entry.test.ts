import { expect, test } from "vitest";
import { decodeEntries, encodeEntries, separator } from "../../../shared/pages/tree/entry.ts";

test.each([
  0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 100_000_000,
])("entries keep a count of %i", (count) => {
  const entries = [
    { start: "", cells: new Map([[0, count]]) },
    {
      start: "lead_01K",
      cells: new Map([
        [0, 1],
        [3, count],
        [200, count],
      ]),
    },
    { start: "lead_01KZÜ", cells: new Map() },
  ];
  expect(decodeEntries(encodeEntries(entries))).toEqual(entries);
});

test.each([
  ["", "lead_01", "l"],
  ["conv_01", "lead_01", "l"],
  ["lead_01AB", "lead_01AC", "lead_01AC"],
  ["lead_01AB", "lead_02AA", "lead_02"],
  ["lead_01", "lead_01A", "lead_01A"],
])("between %j and %j, the shortest sort key is %j", (before, at, shortest) => {
  expect(separator(before, at)).toBe(shortest);
});
