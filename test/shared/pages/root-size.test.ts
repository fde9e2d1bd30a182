import { expect, test } from "vitest";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootBytes, rootItem } from "../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { itemSize } from "../../bench/pages/item-size.ts";

const owner = { account: "acme", list: countedLists.lead };
const starts = Array.from({ length: 40 }, (_, i) => `lead_01KDVD0${String(i).padStart(2, "0")}4C4F`);
const entries = starts.map((start, i) => ({ start, cells: new Map([[i % 4, i * 100]]) }));

// A root that is read for more than one unit would cost every list more.
test.each([
  ["nothing", {}],
  ["entries", { entries, watermark: "lead_01KDVD0994" }],
  ["statuses", { statuses: { names: ["a".repeat(64), "é".repeat(30), "c"], full: true } }],
  ["pending leaves", { pending: starts.slice(0, 10) }],
])("the size of a root with %s is not estimated too low, and hardly too high", (_, part) => {
  const root = { ...emptyRoot(1), ...part };
  const size = itemSize({ ...treeKey(owner, "root"), ...rootItem(root) });
  expect(rootBytes(root)).toBeGreaterThanOrEqual(size);
  expect(rootBytes(root)).toBeLessThan(size + 250);
});
