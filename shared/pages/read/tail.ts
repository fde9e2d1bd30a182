import { earliest, latest } from "../tree/counted-list.ts";
import { type Range, rangeId, readPages, type Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";

/** The sort keys, newest first, of all rows of a tail from one sort key to before another. */
interface Span {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
  /** Rows of the tail were changed when this is another one. */
  readonly version: string;
}

/**
 * What this environment knows of tails, by their ranges. No route creates a row there any more, so lists need not read them
 * again. It makes a list's cost depend on the rows of the last seconds, however far the watermark is behind.
 */
const known = new Map<string, Span>();

/** The most sort keys that an environment remembers: about 60 MB, or the creates of three hours at 100 a second. */
const maxKeys = 1_000_000;

/** The most tails that an environment remembers. */
const maxTails = 1000;

interface Tail {
  readonly watermark: string;
  readonly before: string | undefined;
  /** The newest rows of the range, which may have been read before the root. */
  readonly newest: Segment;
  /** Up to which sort key rows are remembered, and for which version of the tail; without it, none are. */
  readonly memory: { readonly until: string; readonly version: string } | undefined;
}

/**
 * The sort keys of the rows at or past the watermark, newest first. What was read before an error is remembered, so
 * lists make progress on a long tail even if none of them can read all of it.
 */
export async function readTail(
  range: Range,
  { watermark, before, newest, memory }: Tail,
  call: Call,
): Promise<readonly string[]> {
  const id = rangeId(range);
  const found = memory && known.get(id);
  const isUsable = found?.version === memory?.version && found && found.to > watermark;
  const span = isUsable ? found : { from: watermark, to: watermark, keys: [] };
  const newestKeys = sortKeys(newest);
  const start = newest.done ? watermark : latest(watermark, newestKeys.at(-1) ?? before ?? watermark);
  // The newest rows may have been read before a change that the root tells of: only the others are remembered.
  const settled: string[] = [];
  // All rows from here on have been read.
  let reached = start;
  const readDown = async (downTo: string) => {
    for await (const page of readPages(range, { before: reached, downTo, keysOnly: true }, call)) {
      settled.push(...sortKeys(page));
      reached = settled.at(-1) ?? reached;
    }
    reached = earliest(reached, downTo);
  };
  try {
    await readDown(span.to);
    // They may be too many for the arguments of one call.
    for (const sk of span.keys) if (sk >= watermark) settled.push(sk);
    reached = earliest(reached, latest(span.from, watermark));
    await readDown(watermark);
  } finally {
    const end = memory && earliest(memory.until, latest(start, span.to));
    if (memory && end !== undefined && reached < end)
      remember(id, { ...memory, from: reached, to: end, keys: settled.filter((sk) => sk < end) });
  }
  return [...newestKeys.filter((sk) => sk >= watermark), ...settled.filter((sk) => sk < start)];
}

/** Forgets all tails, as a new execution environment does not know them. */
export const forgetTails = () => known.clear();

const sortKeys = ({ items }: Segment) => items.map(({ sk }) => String(sk));

function remember(id: string, { version, from, to, keys }: Span): void {
  known.delete(id);
  known.set(id, { version, from, to, keys });
  let count = [...known.values()].reduce((sum, span) => sum + span.keys.length, 0);
  for (const [oldest, span] of known) {
    if (known.size <= maxTails && count <= maxKeys) break;
    // The first is the one that was read least recently.
    known.delete(oldest);
    count -= span.keys.length;
  }
}
