import { change, create, deep, flat, insert, move, remove, sources, world } from "./parts.ts";

const ofSource = world({
  ...{ limits: flat, sources, maintainers: [0], pages: [1], filter: { source: "a" } },
});
const run = world({ limits: { ...flat, tail: 16 }, maintainers: [0, 0] });
/** Rows that a maintainer does not count if its clock is 0.1 s behind. */
const rows = [[100], [2.84, 2.82, 2.8]];
const behind = { maintainers: [-100] };

/** Readers of a label during changes, and a reader during changes of the tail. */
export const readers = [
  ofSource("a reader, and a first feed", [[100], [12, 11]], [[change(0)]]),
  ofSource("a reader, and rows move", [[100, 90], [12]], [[move(1, "b")], [remove(2)]]),
  ofSource("a reader, and an import", [[100, 90, 80, 70]], [[insert(6, 85)], [change(1)]], {
    ...{ limits: deep, sources: ["a"], pages: [2], filter: { status: "new", source: "a" } },
  }),
  run("a row is deleted during a list", rows, [[remove(3), create(4), create(5)]], { ...behind, pages: [1] }),
];
