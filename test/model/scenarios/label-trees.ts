import { change, create, deep, flat, insert, large, move, pass, remove, run } from "./parts.ts";

const one = { maintainers: [0], crashes: 1 };
const inNodes = { limits: deep, sources: ["a"] };

/** Labels that are fed by the tail of their list. */
export const labelTrees = [
  run("a first feed, and a row changes", [[100], [12, 11]], [[change(0)], [change(1)]]),
  run("a first feed, and a row is deleted", [[100], [12, 11]], [[change(0)], [remove(1)]]),
  run(
    "a second feed, and a row is deleted",
    [
      [100, 90],
      [12, 11],
    ],
    [[change(0)], [remove(2)]],
  ),
  run("a feed, and an import into the tail", [[100], [12]], [[change(0)], [insert(2, 13)]]),
  run("a feed, and an import before it", [[100, 90], [12]], [[change(0)], [insert(3, 95)]]),
  run("a feed of two sources crashes", [[100], [12, 11]], [[remove(1)]], {
    sources: ["b", "a", "b"],
    crashes: 1,
  }),
  run("changes of a fed row that undo each other", [[100, 90]], [[change(1), change(1, "new")]]),
  large("a row moves to another source and back", [[100, 90, 80]], [[move(1, "b"), move(1, "a")]]),
  run("a row moves to a source without a tree", [[100, 90]], [[move(1, "c")], [change(0)]], one),
  run("a row is fed before its record arrives", [[100]], [[change(0)], [create(1), pass()]], {
    maintainers: [0],
  }),
  run(
    "a feed in cut commits",
    [
      [100, 90, 80],
      [14, 13, 12, 11, 10.5, 10],
    ],
    [[remove(3)]],
    { ...inNodes, ...one, limits: { ...deep, nodesWritten: 1 } },
  ),
  large("nodes of a label", [[100, 95, 90, 85, 80]], [[change(1), remove(2)], [insert(6, 110)]], inNodes),
  large("a feed, and a row moves", [[100], [12, 11]], [[change(0)], [move(1, "b")]]),
  large("a feed, and a row moves to a new source", [[100], [12, 11]], [[change(0)], [move(1, "c")]]),
  large("a feed in portions", [[100], [13, 12]], [[change(0)], [remove(1)]], {
    limits: { ...flat, fedRows: 1 },
  }),
  large(
    "a feed of two sources crashes, and a row is deleted",
    [[100], [12, 11]],
    [[change(0)], [remove(1)]],
    { sources: ["b", "a", "b", "c"], crashes: 1 },
  ),
  large(
    "a feed of nodes",
    [
      [100, 90, 80],
      [14, 13, 12],
    ],
    [[remove(4)], [change(0)]],
    inNodes,
  ),
  large("clocks differ", [[100]], [[create(1), pass(2750), remove(1), pass(200), change(0)]], {
    maintainers: [100, -100],
  }),
];
