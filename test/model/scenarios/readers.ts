import type { Scenario } from "../scenario.ts";
import { change, create, deep, fed, flat, insert, list, move, pass, remove } from "./parts.ts";

const sources = ["b", "a", "a", "a", "a"];
const tail = [14, 13, 12];

/** Readers whose indexes are late without bound, and environments that remember. */
export const readers: readonly Scenario[] = [
  {
    name: "a reader while a source is fed for the first time",
    ...{ limits: fed, sources },
    initial: [[100], [12, 11]],
    events: [[change(0)]],
    maintainers: [0],
    pages: [1],
    filter: { source: "a" },
  },
  {
    name: "a reader of a source whose rows move and are deleted",
    ...{ limits: fed, sources },
    initial: [[100, 90], [12]],
    events: [[move(1, "b")], [remove(2)]],
    maintainers: [0],
    pages: [1],
    filter: { source: "a" },
  },
  {
    name: "a reader of a status and a source that an import adds to",
    ...{ limits: deep, sources: ["a"] },
    initial: [[100, 90, 80, 70]],
    events: [[insert(6, 85)], [change(1)]],
    maintainers: [0],
    pages: [2],
    filter: { status: "new", source: "a" },
  },
  {
    name: "an environment remembers a row of the tail that is deleted",
    limits: { ...flat, tail: 16 },
    initial: [[100], tail],
    events: [[list, remove(1)], [change(0)]],
    maintainers: [0, 0],
  },
  {
    name: "an environment remembers what an index did not have",
    ...{ limits: { ...fed, tail: 16 }, sources },
    initial: [[100], tail],
    events: [[create(4), pass(), list, remove(1)]],
    maintainers: [0],
  },
  {
    name: "an environment lists while a row of the tail is deleted",
    limits: { ...flat, tail: 16 },
    initial: [[100], tail],
    events: [[remove(3)]],
    maintainers: [0],
    pages: [1],
    returns: true,
  },
];
