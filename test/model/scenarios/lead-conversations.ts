import { conversations } from "../rows.ts";
import type { Scenario } from "../scenario.ts";
import { change, create, insert } from "./parts.ts";
import { counted, limits, withTail } from "./sublists.ts";

const lead = { limits, kind: conversations, sources: ["x", "y"] };

/** The conversations of a lead, with their groups. */
export const leadConversations: readonly Scenario[] = [
  {
    name: "a conversation of the tail changes while it is counted",
    large: true,
    ...lead,
    initial: withTail,
    events: [[create(10)], [change(3)]],
    maintainers: [0, 0],
  },
  {
    name: "a counted conversation changes while others are counted",
    ...lead,
    initial: withTail,
    events: [[create(10)], [change(1)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "a conversation changes and another is imported",
    large: true,
    ...lead,
    initial: [counted],
    events: [[change(1)], [insert(4, 85)]],
    maintainers: [0, 0],
  },
  {
    name: "a reader of a group while conversations are counted",
    ...lead,
    // A reader reads the newest 24 rows first. Its page is in the tail, which has rows that are not counted yet.
    initial: [[...Array.from({ length: 25 }, (_, row) => 200 - row)], [39, 38, 20, 19]],
    events: [[create(30, -20)]],
    maintainers: [0],
    pages: [1],
    filter: { status: "new" },
  },
];
