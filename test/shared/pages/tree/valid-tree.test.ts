import { expect, test } from "vitest";
import { InvalidItemError } from "../../../../shared/errors.ts";
import { newId } from "../../../../shared/ids.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { rowEntry } from "../../../../shared/pages/tree/entry.ts";
import { rootItem } from "../../../../shared/pages/tree/root.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { validRoot } from "../../../../shared/pages/tree/valid-tree.ts";

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
