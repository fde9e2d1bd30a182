import { expect, test } from "vitest";
import { recountLeaf } from "../../../shared/pages/maintain/recount.ts";
import { countRows } from "../../../shared/pages/tree/cells.ts";
import { emptyRoot } from "../../../shared/pages/tree/root.ts";
import { smallLimits } from "../../support/small-limits.ts";

const { largestLeaf, leafRows } = smallLimits;
const sizes = (count: number, next?: string) => {
  const rows = Array.from({ length: count }, (_, n) => ({
    sk: `lead_${n}`,
    status: "new",
    sourceOrChannel: undefined,
  }));
  const { leaves } = recountLeaf("", { rows, next }, emptyRoot(1).statuses, smallLimits);
  return leaves.map(({ cells }) => countRows(cells));
};

test("a leaf with as many rows as a leaf may have stays one leaf", () => {
  expect(sizes(largestLeaf)).toEqual([largestLeaf]);
});

test("a leaf with one row more becomes small ones", () => {
  expect(sizes(largestLeaf + 1)).toEqual([leafRows, leafRows, 1]);
});

test("a leaf of which more rows follow becomes small ones, and an empty one for those", () => {
  expect(sizes(largestLeaf, "lead_9")).toEqual([leafRows, leafRows, 0]);
});
