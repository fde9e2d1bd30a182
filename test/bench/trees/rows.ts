import { countedLists } from "../../../shared/pages/tree/counted-list.ts";

/** How the rows of a list arrive: at random times of three years, or 10,000 at once, two in each millisecond. */
export type Arrivals = "evenly" | "in bursts";

/** The share of the rows of each cell, by cell number. */
export type Mix = ReadonlyMap<number, number>;

const { idPrefix } = countedLists.lead;
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** When the oldest row was created, and how much later the newest, in milliseconds. */
const start = Date.UTC(2023, 0, 1);
const period = 3 * 365 * 24 * 60 * 60 * 1000;

const burst = { rows: 10_000, perMillisecond: 2 };

/** A place is a time in units of 2 digits of a ULID below a millisecond; a ULID has 12 digits of it, then 14 others. */
const placesPerMillisecond = 32 ** 2;
const placeDigits = 12;
const keyLength = idPrefix.length + 26;

/** No two rows are closer than this part of their distance: so they have different places. */
const furthestShift = 0.9;

/** The rows of a list that is too long for memory: each is computed from its index, from the oldest on. */
export class SyntheticRows {
  readonly size: number;
  readonly #seed: number;
  readonly #inBursts: boolean;
  /** The cells in proportion to their shares. */
  readonly #cells: Uint8Array;

  constructor(size: number, { mix, arrivals }: { readonly mix: Mix; readonly arrivals: Arrivals }) {
    this.size = size;
    this.#seed = size;
    this.#inBursts = arrivals === "in bursts";
    this.#cells = spreadCells(mix);
  }

  /** The number of the cell that counts a row. */
  cell(index: number): number {
    return this.#cells[this.#hash(index, 1) >>> 20] as number;
  }

  /** The sort key of a row. */
  key(index: number): string {
    let place = this.place(index);
    let key = "";
    for (let digit = 0; digit < placeDigits; digit++) {
      key = digits.charAt(place % 32) + key;
      place = Math.floor(place / 32);
    }
    for (let salt = 2; key.length < keyLength - idPrefix.length; salt++) {
      const hash = this.#hash(index, salt);
      for (let shift = 0; shift < 30 && key.length < keyLength - idPrefix.length; shift += 5)
        key += digits.charAt((hash >>> shift) % 32);
    }
    return idPrefix + key;
  }

  /** Orders the rows as their keys do. */
  place(index: number): number {
    const shifted = index + (this.#hash(index, 0) / 2 ** 32) * furthestShift;
    return Math.floor(this.#time(index, shifted) * placesPerMillisecond);
  }

  /** The index of the first row with a sort key or a later one. */
  firstAt(key: string): number {
    let low = 0;
    for (let high = this.size; low < high; ) {
      const middle = Math.floor((low + high) / 2);
      if (this.key(middle) >= key) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #time(index: number, shifted: number): number {
    if (!this.#inBursts) return start + (period * shifted) / this.size;
    const first = index - (index % burst.rows);
    return start + Math.floor((period * first) / this.size) + (shifted - first) / burst.perMillisecond;
  }

  #hash(index: number, salt: number): number {
    let hash = Math.imul(index ^ (this.#seed + Math.imul(salt, 0x27d4eb2f)), 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae3d);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}

/** The number of characters of a key. */
export const charactersOfKey = keyLength;

/** The number of characters that the keys of two rows with different places share. */
export function sharedCharacters(place: number, other: number): number {
  let [a, b] = [place, other];
  let different = 0;
  for (; a !== b; different++) {
    a = Math.floor(a / 32);
    b = Math.floor(b / 32);
  }
  return idPrefix.length + placeDigits - different;
}

/** The time after that of all rows, in milliseconds since the epoch. */
export const afterRows = start + period;

function spreadCells(mix: Mix): Uint8Array {
  const cells = new Uint8Array(4096);
  const total = [...mix.values()].reduce((sum, share) => sum + share, 0);
  let [at, sum] = [0, 0];
  for (const [cell, share] of mix) {
    sum += share;
    const end = Math.round((cells.length * sum) / total);
    cells.fill(cell, at, end);
    at = end;
  }
  return cells;
}
