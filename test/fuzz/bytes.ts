import type { Body } from "./generators/body.ts";
import { resolve, type World } from "./world.ts";

/** The bytes of a body, with the world's ids in it. */
export function bytesOf(world: World, who: 0 | 1, body: Body | undefined): Buffer {
  const { text, encoding } = body ?? { text: "", encoding: "utf8" };
  return Buffer.from(resolve(world, who, text), encoding);
}
