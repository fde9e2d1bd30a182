import type { Scenario } from "../scenario.ts";
import { change, create, deep, fed, insert, move, pass, remove } from "./parts.ts";

/** Row 0 is counted and fed; the others, of another source, are the tail. */
const sources = ["b", "a", "a", "a", "a"];

/** Sublists that are fed by the tail of their list. */
export const sublists: readonly Scenario[] = [
  {
    name: "a source is fed for the first time while a row of it changes",
    ...{ limits: fed, sources },
    initial: [[100], [12, 11]],
    events: [[change(0)], [change(1)]],
    maintainers: [0, 0],
  },
  {
    name: "a source is fed for the first time while a row of it is deleted",
    ...{ limits: fed, sources },
    initial: [[100], [12, 11]],
    events: [[change(0)], [remove(1)]],
    maintainers: [0, 0],
  },
  {
    name: "a source is fed again while a row of it is deleted",
    ...{ limits: fed, sources },
    initial: [[100, 90], [12, 11]],
    events: [[change(0)], [remove(2)]],
    maintainers: [0, 0],
  },
  {
    name: "a source is fed while a row of it moves to another",
    large: true,
    ...{ limits: fed, sources },
    initial: [[100], [12, 11]],
    events: [[change(0)], [move(1, "b")]],
    maintainers: [0, 0],
  },
  {
    name: "a source is fed while a row of it moves to one without a tree",
    large: true,
    ...{ limits: fed, sources },
    initial: [[100], [12, 11]],
    events: [[change(0)], [move(1, "c")]],
    maintainers: [0, 0],
  },
  {
    name: "a source is fed while a row is imported",
    ...{ limits: fed, sources },
    initial: [[100], [12]],
    events: [[change(0)], [insert(2, 13)]],
    maintainers: [0, 0],
  },
  {
    name: "a row is imported before those that are fed",
    ...{ limits: fed, sources },
    initial: [[100, 90], [12]],
    events: [[change(0)], [insert(3, 95)]],
    maintainers: [0, 0],
  },
  {
    name: "a feed that is interrupted",
    ...{ limits: fed, sources: ["b", "a", "b"] },
    initial: [[100], [12, 11]],
    events: [[remove(1)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "a feed in portions",
    large: true,
    ...{ limits: { ...fed, fedRows: 1 }, sources },
    initial: [[100], [13, 12]],
    events: [[change(0)], [remove(1)]],
    maintainers: [0, 0],
  },
  {
    name: "changes of a row in a sublist's tree that undo each other",
    ...{ limits: fed, sources },
    initial: [[100, 90]],
    events: [[change(1), change(1, "new")]],
    maintainers: [0, 0],
  },
  {
    name: "a row moves to another source and back",
    ...{ limits: fed, sources },
    initial: [[100, 90, 80]],
    events: [[move(1, "b"), move(1, "a")]],
    maintainers: [0, 0],
  },
  {
    name: "nodes of a sublist's tree, with cut commits",
    ...{ limits: deep, sources: ["a"] },
    initial: [[100, 95, 90, 85, 80]],
    events: [[change(1), remove(2)], [insert(6, 110)]],
    maintainers: [0, 0],
  },
  {
    name: "a row is created, counted and fed before its record comes",
    ...{ limits: fed, sources },
    initial: [[100]],
    events: [[change(0)], [create(1), pass()]],
    maintainers: [0],
  },
];
