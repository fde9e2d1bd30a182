import { change, create, flat, lose, pass, remove, world } from "./parts.ts";

const hour = 3_600_000;
const run = world({ limits: flat, maintainers: [0, 0] });
const labelTrees = { limits: flat, sources: ["a"], ahead: hour };

/** A clock that is far ahead: the watermark of a tree must not go beyond the rows that it has seen. */
export const clocksFarAhead = [
  run("rows before the watermark", [[100, 90]], [[create(2), pass(), remove(2)]], { ahead: hour }),
  run("rows before fed rows", [[100, 90]], [[create(2), pass(), change(2)]], labelTrees),
  // One clock is further ahead than ids may be, and the other is not.
  run("rows before filled rows", [[100, 95, 90, 85, 80]], [[lose("root", "a"), change(0)], [create(5)]], {
    ...{ large: true, limits: flat, sources: ["a"], maintainers: [hour, 60_000] },
  }),
];
