import { earliest, latest } from "../tree/counted-list.ts";
import { type Range, readSegments, type Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { recall, remember, type Span, type TailMemory } from "./remembered-tail.ts";

interface Tail {
  readonly watermark: string;
  readonly before: string | undefined;
  /** The newest rows of the range, which may have been read before the root. */
  readonly newest: Segment;
  /** How far the tail is remembered; undefined if it is not. */
  readonly memory: TailMemory | undefined;
}

/** What has been read of a tail: the sort keys, newest first, of all its rows from one on. */
type Read = Pick<Span, "from" | "keys">;

/**
 * The sort keys of the rows at or past the watermark, newest first. What was read before an error is remembered, so
 * lists make progress on a long tail even if none of them can read all of it.
 */
export async function readTail(
  range: Range,
  { watermark, before, newest, memory }: Tail,
  call: Call,
): Promise<readonly string[]> {
  const newestKeys = sortKeys(newest);
  const start = newest.done ? watermark : latest(watermark, newestKeys.at(-1) ?? before ?? watermark);
  const known = recall(range, watermark, memory) ?? { from: watermark, to: watermark, keys: [] };
  // The newest rows may have been read before a change that the root tells of: only the others are remembered.
  let read: Read = { from: start, keys: [] };
  try {
    for await (const next of readDown(range, read, known.to, call)) read = next;
    const keys = [...read.keys, ...known.keys.filter((sk) => sk >= watermark)];
    read = { from: earliest(read.from, latest(known.from, watermark)), keys };
    for await (const next of readDown(range, read, watermark, call)) read = next;
  } finally {
    if (memory) remember(range, { ...read, to: latest(start, known.to) }, memory);
  }
  return [...newestKeys.filter((sk) => sk >= watermark), ...read.keys.filter((sk) => sk < start)];
}

/** Reads the rows before those that have been read, down to a sort key. @returns what has been read after each page */
async function* readDown(range: Range, read: Read, downTo: string, call: Call): AsyncGenerator<Read> {
  let { from } = read;
  const keys = [...read.keys];
  for await (const page of readSegments(range, { before: from, downTo, keysOnly: true }, call)) {
    keys.push(...sortKeys(page));
    from = String(page.items.at(-1)?.sk ?? from);
    yield { from, keys };
  }
  yield { from: earliest(from, downTo), keys };
}

const sortKeys = ({ items }: Segment) => items.map(({ sk }) => String(sk));
