import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { InvalidItemError } from "../../../shared/errors.ts";
import { newId } from "../../../shared/ids.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, encodeEntries, rowEntry, separator } from "../../../shared/pages/tree/entry.ts";
import { rootItem } from "../../../shared/pages/tree/root.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { validRoot } from "../../../shared/pages/tree/valid-tree.ts";

test("statuses keep their places, and a new one comes last", () => {
  // Trees store the number of rows of a status by its place in this list, and during a deployment the maintainers of the
  // last release still use their order. With another order, the totals of all lists would be wrong without a sign.
  const ofLeads = ["new", "qualified", "booked"];
  expect(countedLists.lead.statuses.slice(0, ofLeads.length)).toEqual(ofLeads);
  // Leads have no other status. Conversations may have one, and are then counted at the place after the last.
  expect(countedLists.conversation.statuses).toEqual(["active", "closed"]);
});

/** Rows with real ids, so many milliseconds apart. */
const rows = (count: number, apart: number) =>
  Array.from({ length: count }, (_, i) => rowEntry(newId("lead", Date.UTC(2026, 0, 1) + i * apart), i % 4));

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
  ["more entries than a node has", encodeEntries(rows(1001, 1))],
  ["bytes that would fill the memory", deflateRawSync(`[${" ".repeat(2_000_000)}]`)],
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

test.each([
  20, 1000, 60_000, 3_600_000,
])("a full node takes less than 2 KB when a row is created every %i ms", (apart) => {
  expect(encodeEntries(rows(100, apart)).length).toBeLessThan(1800);
});

const owner = { account: "acme", list: countedLists.lead };

const ids = Array.from({ length: limits.nodeEntries + limits.nodeRows }, (_, n) =>
  newId("lead", Date.UTC(2026, 0, 1) + 3_600_000 * n),
);

/** The item of a root with as many entries and rows as one has at most, of a large list. */
function fullRoot(level: number) {
  const buffer = ids.slice(limits.nodeEntries);
  const sum = (start: string, n: number) => ({
    start,
    buckets: [1, 3, 7].map((k) => 1_000_003 * k + 7919 * n),
  });
  return rootItem({
    ...{ version: 1, generation: 1, level, bufferStart: buffer[0] ?? "", watermark: `${ids.at(-1)}!` },
    entries: ids.slice(0, limits.nodeEntries).map(sum),
    buffer: buffer.map((id, n) => rowEntry(id, n % 4)),
  });
}

test.each([1, 4])("a full root of level %i is valid", (level) => {
  const item = fullRoot(level);
  expect(item.entries.length).toBeGreaterThan(4200);
  expect(validRoot(owner, item)).toMatchObject({ level });
});

test.each<[string, object]>([
  ["more levels than any list needs", fullRoot(5)],
  ["more bytes than two read units have", { ...fullRoot(4), other: "x".repeat(8192) }],
])("a root with %s is invalid", (_, item) => {
  expect(() => validRoot(owner, { ...item })).toThrow(InvalidItemError);
});
