import { randomFillSync } from "node:crypto";
import { ulid } from "ulid";

const bytes = new Uint8Array(4096);
let used = bytes.length;

function random(): number {
  if (used === bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  return Number(bytes[used++]) / 256;
}

/** A ULID of a time. For many of them, this needs a fifth of the time of `ulid`, which gets each random byte by itself. */
export const newUlid = (time: number) => ulid(time, random);
