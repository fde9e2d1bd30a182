import { startTime } from "../scenario.ts";
import { change, deep, insert, remove, tiny, world } from "./parts.ts";

const before = (age: number) => ({ createdBefore: new Date(startTime - age * 1000).toISOString() });
const inNodes = world({ limits: tiny, maintainers: [0], torn: 3 });
const large = world({ large: true, limits: tiny, maintainers: [0, 0], torn: 3 });
const rows = [[100, 90, 80, 70, 60]];

/** Readers and maintainers during a transaction: they may see each of its items as before or as after the transaction. */
export const tornTransactions = [
  inNodes("a reader during a change of a node", rows, [[change(0), change(2)]], {
    pages: [2],
    filter: before(65),
  }),
  inNodes("a reader during a split", rows, [[insert(5, 95), insert(6, 92)]], {
    pages: [1],
    filter: before(65),
  }),
  inNodes("two maintainers at once", rows, [[change(0)], [remove(1)]], {
    ...{ maintainers: [0, 0], crashes: 1 },
  }),
  inNodes(
    "a maintainer that misses a node with the same sums",
    rows,
    [[change(0), remove(2), change(0, "new"), change(1)]],
    { limits: { ...tiny, nodeRows: 4 }, maintainers: [0, 0] },
  ),
  inNodes("a reader of a label during a feed", [[100, 90, 80, 70], [12]], [[change(1)]], {
    ...{ limits: deep, sources: ["a"], pages: [1], filter: { source: "a", ...before(75) } },
  }),
  large("a reader and a maintainer during a split", rows, [[insert(5, 95), insert(6, 92)], [change(0)]], {
    ...{ pages: [1], filter: before(65) },
  }),
  large("a maintainer during a feed of nodes", [[100, 90, 80], [12]], [[change(0)], [remove(1)]], {
    ...{ limits: deep, sources: ["a"] },
  }),
];
