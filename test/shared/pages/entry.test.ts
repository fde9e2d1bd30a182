import { expect, test } from "vitest";
import { decodeEntries, encodeEntries } from "../../../shared/pages/tree/entry.ts";

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
