import type { Scenario } from "../scenario.ts";
import { change, create, deep, fed, flat, insert, list, move, remove, worlds } from "./parts.ts";

const sources = ["b", "a", "a", "a", "a"];
const tail = [14, 13, 12];
/** Rows that a clock that is two seconds behind does not count. */
const behind = [6, 5.5, 5.3];

/** Readers whose indexes are late without bound, and environments that remember. */
export const readers: readonly Scenario[] = [
  ...worlds(
    { limits: fed, sources, maintainers: [0], pages: [1], filter: { source: "a" } },
    {
      "a reader while a source is fed for the first time": {
        initial: [[100], [12, 11]],
        events: [[change(0)]],
      },
      "a reader of a source whose rows move and are deleted": {
        initial: [[100, 90], [12]],
        events: [[move(1, "b")], [remove(2)]],
      },
      "a reader of a status and a source that an import adds to": {
        limits: deep,
        sources: ["a"],
        initial: [[100, 90, 80, 70]],
        events: [[insert(6, 85)], [change(1)]],
        pages: [2],
        filter: { status: "new", source: "a" },
      },
    },
  ),
  ...worlds(
    { limits: { ...flat, tail: 16 }, maintainers: [0, 0] },
    {
      "an environment remembers a row of the tail that is deleted": {
        initial: [[100], tail],
        events: [[list, remove(1)], [change(0)]],
      },
      "an environment remembers a row that is deleted, and that a clock behind does not count": {
        initial: [[100], behind],
        events: [[list, remove(1)], [change(0)]],
        maintainers: [-2000, -2000],
      },
      "an environment remembers what an index did not have": {
        limits: { ...fed, tail: 16 },
        sources: ["b", "a", "b"],
        initial: [[100], behind],
        events: [[move(1, "b"), list], [change(0)]],
        maintainers: [-2000],
      },
      "an environment remembers before a row lands late": {
        initial: [[100], [1, 0.9]],
        events: [[list, create(3, -2000)], [change(0)]],
      },
      "an environment lists while a row of the tail is deleted": {
        initial: [[100], behind],
        events: [[remove(3)]],
        maintainers: [-2000],
        pages: [1],
        returns: true,
      },
    },
  ),
];
