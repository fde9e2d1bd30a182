import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { decodeEntries, encodeEntries, rowEntry, separator } from "../../../../shared/pages/tree/entry.ts";

test("entries keep their starts and counts", () => {
  const entries = [
    { start: "", buckets: [0, 100_000_000] },
    { start: "lead_01K", buckets: [1, 0, 0, 3] },
    { start: "lead_01KZ~", buckets: [] },
  ];
  expect(decodeEntries(encodeEntries(entries))).toEqual(entries);
});

test.each([
  ["no bytes", undefined],
  ["empty bytes", new Uint8Array()],
  ["bytes that are not compressed", Buffer.from("[]")],
  ["compressed text that is no JSON", deflateRawSync("[")],
  ["no array", deflateRawSync("{}")],
  ["an entry without a start", deflateRawSync("[[1]]")],
  ["a count that is no number", deflateRawSync('[["lead_",null]]')],
  ["entries out of order", deflateRawSync('[["lead_2",1],["lead_1",1]]')],
  ["a count below 0", deflateRawSync('[["lead_",-1]]')],
  ["a count too large to add up", deflateRawSync('[["lead_",9007199254740991]]')],
  ["a start that JavaScript and DynamoDB sort differently", deflateRawSync('[["lead_Ü",1]]')],
  ["a start longer than a sort key", deflateRawSync(`[["${"l".repeat(65)}",1]]`)],
  ["more buckets than there are", deflateRawSync(`[["lead_"${",1".repeat(17)}]]`)],
  ["more entries than a node has", deflateRawSync(JSON.stringify(Array(1001).fill(["lead_", 1])))],
  ["bytes that would fill the memory", deflateRawSync(`["${" ".repeat(2_000_000)}"]`)],
])("%s are no entries", (_, bytes) => {
  expect(decodeEntries(bytes)).toBeUndefined();
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
  20, 1000, 60_000, 3_600_000,
])("a full node takes less than 2 KB when a row is created every %i ms", (apart) => {
  expect(encodeEntries(rows(100, apart)).length).toBeLessThan(1800);
});
