import { expect, test } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import {
  cut,
  decodeEntries,
  encodedBytes,
  encodeEntries,
  rowEntry,
  separator,
} from "../../../../shared/pages/tree/entry.ts";

test.each([
  0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 100_000_000,
])("entries keep a count of %i", (count) => {
  const several = new Map([
    [0, 1],
    [3, count],
    [200, count],
  ]);
  const entries = [
    { start: "", cells: new Map([[0, count]]) },
    { start: "lead_01K", cells: several },
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

/** Rows with real ids, so many milliseconds apart. */
const rows = (count: number, apart: number) =>
  Array.from({ length: count }, (_, i) => rowEntry(newId("lead", Date.UTC(2026, 0, 1) + i * apart), i % 4));

test.each([
  [20, 23],
  [1000, 24],
  [60_000, 25],
  [3_600_000, 26],
])("a row takes few bytes when one is created every %i ms: %i", (apart, bytes) => {
  expect(Math.round(encodeEntries(rows(1000, apart)).length / 1000)).toBe(bytes);
});

test.each([
  0, 1, 60, 100, 1700,
])("entries are cut into parts of at most %i bytes, or of two entries", (bytes) => {
  const entries = rows(100, 1000);
  const parts = cut(entries, bytes);
  expect(parts.flat()).toEqual(entries);
  for (const [i, part] of parts.entries()) {
    const size = encodeEntries(part).length;
    expect(part.reduce((sum, entry, at) => sum + encodedBytes(entry, part[at - 1]), 0)).toBe(size);
    expect(size <= bytes || part.length <= 2).toBe(true);
    const next = parts[i + 1]?.[0];
    if (next) expect(part.length >= 2 && encodeEntries([...part, next]).length > bytes).toBe(true);
  }
});
