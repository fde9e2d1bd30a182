import { type Cells, countRows, sumCells } from "./cells.ts";

/** A row, with its sort key and its one cell; or the sums of a node, with the sort key where it starts. */
export interface Entry {
  readonly start: string;
  readonly cells: Cells;
}

/** The entry of a row. */
export const rowEntry = (sk: string, cell: number): Entry => ({ start: sk, cells: new Map([[cell, 1]]) });

/** The entry of a node, one level up: the sums of its entries. */
export const sumEntry = (start: string, entries: readonly Entry[]): Entry => ({
  start,
  cells: sumCells(entries.map(({ cells }) => cells)),
});

/** The number of rows in entries: of a cell, or of all. */
export const countEntries = (entries: readonly Entry[], cell?: number): number =>
  entries.reduce((sum, { cells }) => sum + countRows(cells, cell), 0);

/** The index of the entry for a sort key: the last one that does not start after it, or the first one. */
export function indexAt(entries: readonly Entry[], sk: string): number {
  let low = 0;
  for (let high = entries.length; high - low > 1; ) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.start ?? "") <= sk) low = middle;
    else high = middle;
  }
  return low;
}

/** Cuts entries into parts of at most so many bytes, but of two entries at least: so a level has fewer nodes than the one below. */
export function cut(entries: readonly Entry[], bytes: number): Entry[][] {
  const parts: Entry[][] = [];
  let size = 0;
  for (const entry of entries) {
    const part = parts.at(-1);
    size += encodedBytes(entry, part?.at(-1));
    if (part && (size <= bytes || part.length < 2)) part.push(entry);
    else {
      parts.push([entry]);
      size = encodedBytes(entry);
    }
  }
  return parts;
}

/** The shortest sort key after `before` and not after `at`: where a part whose first row is `at` can start. */
export function separator(before: string, at: string): string {
  let length = 1;
  while (length < at.length && at.slice(0, length) <= before) length++;
  return at.slice(0, length);
}

/**
 * Entries as bytes. Each has the length of the prefix that its start shares with the previous start, the rest of the
 * start with its length, and its cells, each as the distance from the previous cell. Numbers are varints: seven bits a
 * byte, the lowest first, with the eighth bit set in all bytes but the last.
 *
 * @see https://protobuf.dev/programming-guides/encoding/#varints
 */
export function encodeEntries(entries: readonly Entry[]): Uint8Array {
  const bytes: number[] = [];
  let before: Buffer | undefined;
  for (const entry of entries) before = pushEntry(bytes, entry, before);
  return new Uint8Array(bytes);
}

/** The number of bytes of an entry after another one, or as the first. */
export function encodedBytes(entry: Entry, before?: Entry): number {
  const bytes: number[] = [];
  pushEntry(bytes, entry, before && Buffer.from(before.start));
  return bytes.length;
}

/** @param before the previous start @returns the start */
function pushEntry(bytes: number[], { start, cells }: Entry, before: Buffer | undefined): Buffer {
  const key = Buffer.from(start);
  const shared = before ? sharedLength(before, key) : 0;
  pushVarint(bytes, shared);
  pushVarint(bytes, key.length - shared);
  for (let at = shared; at < key.length; at++) bytes.push(key[at] as number);
  pushVarint(bytes, cells.size);
  let last = 0;
  for (const [cell, count] of cells.size > 1 ? [...cells].sort(([a], [b]) => a - b) : cells) {
    pushVarint(bytes, cell - last);
    pushVarint(bytes, count);
    last = cell;
  }
  return key;
}

/** The reverse of `encodeEntries`. */
export function decodeEntries(bytes: Uint8Array): Entry[] {
  const entries: Entry[] = [];
  const buffer = Buffer.from(bytes);
  let at = 0;
  let previous = Buffer.alloc(0);
  const next = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = buffer.readUInt8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < buffer.length) {
    const shared = next();
    const rest = next();
    const key = Buffer.concat([previous.subarray(0, shared), buffer.subarray(at, at + rest)]);
    at += rest;
    const cells = new Map<number, number>();
    for (let left = next(), cell = 0; left > 0; left--) {
      cell += next();
      cells.set(cell, next());
    }
    entries.push({ start: key.toString(), cells });
    previous = key;
  }
  return entries;
}

function sharedLength(a: Buffer, b: Buffer): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
}
