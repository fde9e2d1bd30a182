import { type Range, rangeId, readPages, type Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";

/** The sort keys, newest first, of all rows from one sort key to before another. */
interface Span {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

/**
 * What this environment knows of tails. No route creates a row there any more, so lists need not read it again. It makes a
 * list's cost depend on the rows of the last seconds, however far the watermark is behind.
 */
const spans = new Map<string, Span>();

/** The most sort keys that an environment remembers: about 25 MB. */
const maxKeys = 300_000;

interface Tail {
  readonly watermark: string;
  /** The sort key before which no route creates rows any more. */
  readonly settledBefore: string;
  /** The newest rows of the range, which have been read. */
  readonly newest: Segment;
}

/**
 * The sort keys of the rows at or past the watermark, newest first. What was read before an error is remembered, so
 * lists make progress on a long tail even if none of them can read all of it.
 */
export async function readTail(
  range: Range,
  { watermark, settledBefore, newest }: Tail,
  call: Call,
): Promise<readonly string[]> {
  const id = rangeId(range);
  const known = above(watermark, spans.get(id));
  let keys = sortKeys(newest).filter((sk) => sk >= watermark);
  // All rows from here on have been read.
  let reached = newest.done ? watermark : latest(watermark, sortKeys(newest).at(-1) ?? watermark);
  const readDown = async (downTo: string) => {
    if (reached <= downTo) return;
    for await (const page of readPages(range, { before: reached, downTo, keysOnly: true }, call)) {
      keys.push(...sortKeys(page));
      reached = keys.at(-1) ?? reached;
    }
    reached = downTo;
  };
  const remember = () => setSpan(id, keys, reached, latest(settledBefore, known?.to ?? ""));
  try {
    await readDown(known?.to ?? watermark);
  } catch (error) {
    if (!known) remember();
    throw error;
  }
  if (known) {
    keys = keys.filter((sk) => sk >= known.to).concat(known.keys);
    reached = known.from;
  }
  try {
    await readDown(watermark);
  } finally {
    remember();
  }
  return keys;
}

const sortKeys = ({ items }: Segment) => items.map(({ sk }) => String(sk));

/** The part of a span at or past the watermark. */
function above(watermark: string, span: Span | undefined): Span | undefined {
  if (!span || span.to <= watermark) return undefined;
  if (span.from >= watermark) return span;
  return { ...span, from: watermark, keys: span.keys.filter((sk) => sk >= watermark) };
}

function setSpan(id: string, keys: readonly string[], from: string, to: string): void {
  spans.delete(id);
  if (from < to) spans.set(id, { from, to, keys: keys.filter((sk) => sk < to) });
  let count = 0;
  for (const span of spans.values()) count += span.keys.length;
  // The first is the one that was read least recently.
  for (const [oldest, span] of spans) {
    if (count <= maxKeys && spans.size <= maxSpans) return;
    spans.delete(oldest);
    count -= span.keys.length;
  }
}

/** The most ranges that an environment remembers. */
const maxSpans = 1000;

const latest = (a: string, b: string) => (a > b ? a : b);
