import { change, create, flat, insert, pass, remove, tiny, world } from "./parts.ts";

const inRoot = world({ limits: flat, maintainers: [0, 0] });
const inNodes = world({ limits: tiny, maintainers: [0, 0] });
const large = world({ large: true, limits: tiny, maintainers: [0, 0] });
const differing = { maintainers: [100, -100] };

/** Lists without label trees. */
export const wholeLists = [
  inRoot("rows of the root change", [[100, 90, 80]], [[change(0)], [remove(1)]], { crashes: 1 }),
  inRoot("changes that undo each other", [[100, 90]], [[change(0), change(0, "new")]]),
  inRoot("a row of the tail changes", [[100], [12, 11]], [[change(1)], [remove(2)]]),
  inRoot(
    "clocks differ, and a row of the tail changes",
    [[100], [2.75]],
    [[change(1)], [change(0)]],
    differing,
  ),
  inRoot("clocks differ, and a row is deleted", [[100]], [[create(1), pass(2750), remove(1)]], differing),
  inRoot("the first commits of a list", [], [[create(0), pass(), change(0)]]),
  inNodes("cut commits", [[100, 90, 80, 70, 60, 50]], [[change(0), change(1)], [remove(2)]]),
  inNodes(
    "imports split a node, and a node loses its rows",
    [[100, 90, 60, 50]],
    [[insert(4, 85), insert(5, 80), insert(6, 82), remove(0), remove(1)]],
    { maintainers: [0], crashes: 1 },
  ),
  inNodes(
    "a tail in several commits",
    [
      [100, 90],
      [14, 13, 12, 11, 10],
    ],
    [[change(2)], [remove(3)]],
    { limits: { ...tiny, rowsAtOnce: 2 } },
  ),
  inNodes("rows land late", [[100]], [[create(1)], [create(2), pass(2480)]], { maintainers: [100] }),
  inNodes("rows change during a read", [[100, 90, 80, 70]], [[change(0)], [remove(2)]], { pages: [2] }),
  inNodes("three changes and a crash", [[100, 90, 80]], [[change(0)], [remove(1)], [insert(3, 85)]], {
    crashes: 1,
  }),
  inNodes("two maintainers count imports", [[100, 60]], [[insert(2, 90), insert(3, 80)], [insert(4, 85)]], {
    limits: { ...tiny, rowsAtOnce: 2 },
  }),
  large(
    "nodes split during a read",
    [[100, 60]],
    [
      [insert(2, 90), insert(3, 80)],
      [create(4), pass()],
    ],
    { maintainers: [0], pages: [1, 2] },
  ),
];
