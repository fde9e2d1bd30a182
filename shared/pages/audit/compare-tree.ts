import type { Pace } from "../../dynamodb/pace.ts";
import { withRetry } from "../../dynamodb/retry.ts";
import { settledAll } from "../../in-parallel.ts";
import { type CountedOwner, latest } from "../tree/counted-list.ts";
import { indexAt, type Place, placeAt, rowBucket } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import type { CountedRow } from "../tree/rows.ts";
import { DamagedTreeError, isTreeChanged, readNode, readRoot } from "../tree/tree-store.ts";

/** A row whose bucket in a tree differs from the one in the table; undefined where the row is missing. */
export interface Difference {
  readonly sk: string;
  readonly counted: number | undefined;
  readonly actual: number | undefined;
}

/** What is wrong with a tree. */
export interface Finding {
  readonly owner: CountedOwner;
  readonly differences: readonly Difference[];
  /** Why the tree must be counted again. */
  readonly damage: DamagedTreeError | undefined;
}

/** How long reading a part of a tree is retried while commits come first, in milliseconds. */
const partTimeout = 60_000;

interface Expected {
  /** From a sort key to before another one, or to the end. */
  readonly start: string;
  readonly until: string | undefined;
  /** The rows in the table, between these keys. */
  readonly rows: readonly CountedRow[];
  /** A sort key before which the tree must have all of these rows, even if its watermark is earlier. */
  readonly countedUntil: string;
  readonly needsRoot: boolean;
}

/** Compares rows in the table with all that a tree counts between two sort keys. */
export async function compareTree(owner: CountedOwner, expected: Expected, pace: Pace): Promise<Finding> {
  const differences: Difference[] = [];
  try {
    for (let start: string | undefined = expected.start; start !== undefined; ) {
      const from: string = start;
      const part = await withRetry(() => readPart(owner, from, expected.until, pace), {
        deadline: Date.now() + partTimeout,
        isRetryable: isTreeChanged,
      });
      const { root, counted, end } = part;
      if (!root && expected.needsRoot) throw new DamagedTreeError(owner, "The root is missing.");
      const before = latest(root?.watermark ?? "", expected.countedUntil);
      const isSettled = ({ sk }: CountedRow) => sk >= from && sk < before && (end === undefined || sk < end);
      const actual = new Map(expected.rows.filter(isSettled).map(({ sk, bucket }) => [sk, bucket]));
      for (const sk of new Set([...counted.keys(), ...actual.keys()])) {
        const difference = { sk, counted: counted.get(sk), actual: actual.get(sk) };
        if (difference.counted !== difference.actual) differences.push(difference);
      }
      start = end;
    }
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    return { owner, differences, damage: error };
  }
  return { owner, differences, damage: undefined };
}

/**
 * Reads the first rows that the tree counts in a range: those of the nodes under one parent. Everything that is read is
 * consistent with one root.
 *
 * @returns the root, undefined without a tree; the buckets of the rows, by their sort keys; and where the rest of the range
 *   begins, undefined if nothing is left
 * @throws the errors of `readNode`
 */
async function readPart(owner: CountedOwner, start: string, until: string | undefined, pace: Pace) {
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  const isBefore = (sk: string) => until === undefined || sk < until;
  const isInNodes = root !== undefined && root.entries.length > 0 && start < root.bufferStart;
  const { entries, end } = isInNodes
    ? await readNodes(owner, root, start, isBefore, pace)
    : { entries: root?.buffer ?? [], end: undefined };
  const within = entries.filter(({ start: sk }) => sk >= start && isBefore(sk));
  const counted = new Map(within.map((entry) => [entry.start, rowBucket(entry)]));
  return { root, counted, end: end !== undefined && isBefore(end) ? end : undefined };
}

/** Reads the nodes of rows of a range that are under one parent. @returns their entries, and where these end */
async function readNodes(
  owner: CountedOwner,
  root: Root,
  start: string,
  isBefore: (sk: string) => boolean,
  pace: Pace,
) {
  const read = async (level: number, place: Place) => {
    const entries = await readNode(owner, root, level, place, pace.retry);
    await pace.spend(1);
    return entries;
  };
  let { entries, bufferStart: end } = root;
  for (let level = root.level; level > 1; level--) {
    const place = placeAt(entries, indexAt(entries, start), end);
    end = place.end;
    entries = await read(level, place);
  }
  const places = entries.map((_, index) => placeAt(entries, index, end));
  const needed = places.slice(indexAt(entries, start)).filter(({ entry }) => isBefore(entry.start));
  const nodes = await settledAll(needed.map((place) => read(1, place)));
  return { entries: nodes.flat(), end: needed.at(-1)?.end ?? end };
}
