import { isDeepStrictEqual } from "node:util";

/** A row, with its sort key and its one bucket; or the sums of a node, with the sort key where the node starts. */
export interface Entry {
  readonly start: string;
  /** Numbers of rows by bucket, up to the last bucket that has any. */
  readonly buckets: readonly number[];
}

/** The entry of a row. */
export const rowEntry = (sk: string, bucket: number): Entry => ({
  start: sk,
  buckets: [...Array(bucket).fill(0), 1],
});

/** The bucket of a row's entry. */
export const rowBucket = ({ buckets }: Entry): number => buckets.length - 1;

/** The entry of a node, one level up: the sums of its entries. */
export function sumEntry(start: string, entries: readonly Entry[]): Entry {
  const sum: number[] = [];
  for (const { buckets } of entries)
    for (const [bucket, count] of buckets.entries()) sum[bucket] = (sum[bucket] ?? 0) + count;
  return { start, buckets: sum };
}

/** Whether an entry has the sums of a node. */
export const isSum = (entry: Entry, entries: readonly Entry[]): boolean =>
  isDeepStrictEqual(sumEntry(entry.start, entries), entry);

/** The number of rows in entries: of a bucket, or of all. */
export const countEntries = (entries: readonly Entry[], bucket?: number): number =>
  entries
    .flatMap(({ buckets }) => (bucket === undefined ? buckets : (buckets[bucket] ?? 0)))
    .reduce((sum, count) => sum + count, 0);

/** The index of the entry for a sort key: the last one that does not start after it, or the first one. */
export const indexAt = (entries: readonly Entry[], sk: string): number =>
  Math.max(
    0,
    entries.findLastIndex(({ start }) => start <= sk),
  );

/** The entry of a node, and the sort key before which its rows are. */
export interface Place {
  readonly entry: Entry;
  readonly end: string;
}

/** The place of the node at an index of entries that end before a sort key. */
export const placeAt = (entries: readonly Entry[], index: number, end: string): Place => ({
  entry: entries[index] as Entry,
  end: entries[index + 1]?.start ?? end,
});

/** The shortest sort key after `before` and not after `at`: where a part whose first row is `at` can start. */
export function separator(before: string, at: string): string {
  let length = 1;
  while (length < at.length && at.slice(0, length) <= before) length++;
  return at.slice(0, length);
}

/** Loaded by the first list, not with the function: loading it takes a tenth of a cold start. */
const zlib = () => process.getBuiltinModule("node:zlib");

/** Settings for texts of a few KB, for which the defaults take ten times as much memory. */
const compression = { windowBits: 13, memLevel: 5, chunkSize: 4096 };

/** Entries as compressed JSON: a row takes about 17 bytes, and the sums of a node about 8. */
export const encodeEntries = (entries: readonly Entry[]): Uint8Array =>
  zlib().deflateRawSync(
    JSON.stringify(entries.map(({ start, buckets }) => [start, ...buckets])),
    compression,
  );

/** The reverse of `encodeEntries`; undefined for anything else. */
export function decodeEntries(bytes: unknown): Entry[] | undefined {
  try {
    const text = zlib()
      .inflateRawSync(bytes as Uint8Array, { maxOutputLength })
      .toString();
    const decoded: unknown = JSON.parse(text);
    const isWhole =
      Array.isArray(decoded) &&
      decoded.length <= maxEntries &&
      decoded.every((entry, i) => isEncoded(entry) && (i === 0 || decoded[i - 1][0] < entry[0]));
    return isWhole ? decoded.map(toEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** The most bytes of decoded entries, the most entries, buckets, and rows of a bucket: more than any node has. */
const maxOutputLength = 100_000;
const maxEntries = 1000;
const maxBuckets = 16;
const maxRows = 2 ** 40;

/** Whether a value can be a row's sort key or a text between two: in ASCII, JavaScript and DynamoDB sort them alike. */
export const isSortKey = (value: unknown): value is string =>
  typeof value === "string" && /^[ -~]{0,64}$/.test(value);

type Encoded = readonly [string, ...number[]];

const isEncoded = (entry: unknown): entry is Encoded =>
  Array.isArray(entry) &&
  isSortKey(entry[0]) &&
  entry.length <= 1 + maxBuckets &&
  entry.slice(1).every((rows) => Number.isSafeInteger(rows) && rows >= 0 && rows <= maxRows);

const toEntry = ([start, ...buckets]: Encoded): Entry => ({ start, buckets });
