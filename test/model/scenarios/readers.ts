import { change, create, deep, few, flat, insert, list, move, remove, world } from "./parts.ts";

/** Row 0 has another source than the others. */
const sources = ["b", "a", "a", "a", "a"];
const ofSource = world({
  ...{ limits: flat, sources, maintainers: [0], pages: [1], filter: { source: "a" } },
});
const environment = world({ limits: { ...flat, tail: 16, tailUnits: 8 }, maintainers: [0, 0] });
/** Rows that a clock that is 0.1 s behind does not count. */
const rows = [[100], [2.84, 2.82, 2.8]];
const behind = { maintainers: [-100] };

/** Readers whose indexes are late without bound, and environments that remember the tail. */
export const readers = [
  ofSource("a reader, and a first feed", [[100], [12, 11]], [[change(0)]]),
  ofSource("a reader, and rows move", [[100, 90], [12]], [[move(1, "b")], [remove(2)]]),
  ofSource("a reader, and an import", [[100, 90, 80, 70]], [[insert(6, 85)], [change(1)]], {
    ...{ limits: deep, sources: ["a"], pages: [2], filter: { status: "new", source: "a" } },
  }),
  environment("a row is remembered and deleted", [[100], [14, 13, 12]], [[list, remove(1)], [change(0)]]),
  environment("a remembered row is deleted, but not counted", rows, [[list, remove(1)], [change(0)]], behind),
  environment("an index is late for an environment", rows, [[move(1, "b"), list], [change(0)]], {
    ...{ limits: few, sources: ["b", "a", "b"], ...behind },
  }),
  environment("a row lands after it is listed", [[100], [1, 0.9]], [[list, create(3, -2000)], [change(0)]]),
  environment("a row is deleted during a list", rows, [[remove(3), create(4), create(5)]], {
    ...behind,
    pages: [1],
    returns: true,
  }),
];
