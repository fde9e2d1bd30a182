import { change, deep, few, flat, insert, large, lose, move, pass, remove, run, tiny } from "./parts.ts";

const inNodes = { limits: deep, sources: ["a"] };

/** Trees that are damaged, emptied and filled again. */
export const damagedTrees = [
  run("a list loses a node", [[100, 90, 80, 70]], [[lose("node")], [change(0)], [remove(3)]], {
    ...{ limits: { ...tiny, rowsAtOnce: 20, nodesWritten: 20 }, sources: [] },
  }),
  run("a list loses its root", [[100, 90]], [[lose("root"), change(0)], [remove(1)]]),
  large("a label loses its root", [[100, 90], [12]], [[lose("root", "a"), change(0)], [remove(1)]]),
  run("a tree is filled in several commits", [[100, 90, 80]], [[lose("root", "a"), change(0)]], {
    ...{ limits: { ...flat, rowsAtOnce: 2 }, sources: ["a"], crashes: 1 },
  }),
  large(
    "a feed passes a tree that is filled, and a fed row moves to it",
    [[100, 90], [4]],
    [
      [pass(), change(0), move(2, "a")],
      [lose("root", "a"), change(1)],
    ],
    { limits: few, sources: ["b", "a", "b"], maintainers: [0], crashes: 1 },
  ),
  large("a root is lost during a feed", [[100, 90], [12]], [[change(0)], [remove(1), lose("root", "a")]]),
  large("a row moves during filling", [[100, 90, 80]], [[lose("root", "a"), change(1)], [move(0, "a")]]),
  large("a tree is filled during a feed", [[100, 90], [2.8]], [[change(0)], [lose("root", "a"), change(1)]], {
    ...{ limits: few, maintainers: [-100, 0] },
  }),
  large(
    "nodes are filled during a feed",
    [[100, 90, 80, 70], [12]],
    [[lose("node", "a"), change(0)], [insert(6, 14)]],
    inNodes,
  ),
];
