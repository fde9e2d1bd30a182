import { type Range, rangeId, readPages, type Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { latest } from "./tree/counted-list.ts";

/** The sort keys, newest first, of all rows from one sort key to before another. */
interface Span {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

/**
 * What this environment knows of tails: for each range, spans that do not overlap, newest first. No route creates a row
 * there any more, so lists need not read them again. It makes a list's cost depend on the rows of the last seconds, however
 * far the watermark is behind.
 */
const known = new Map<string, readonly Span[]>();

/**
 * The most sort keys that an environment remembers: about 60 MB, or the creates of three hours at 100 a second. Beyond,
 * it forgets the longest tail, whose lists then fail until the maintainer has shortened it.
 */
const maxKeys = 1_000_000;

interface Tail {
  readonly watermark: string;
  /**
   * The sort key before which no route creates rows any more; empty for a range whose rows are not to be remembered,
   * because no watermark will pass them when they are deleted.
   */
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
  const spans = settledBefore === "" ? [] : above(watermark, known.get(id) ?? []);
  const to = latest(settledBefore, spans[0]?.to ?? "");
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
  const older = [...spans];
  try {
    for (let span = older[0]; span; span = older[0]) {
      const { from, to } = span;
      await readDown(to);
      keys = keys.filter((sk) => sk >= to).concat(span.keys);
      reached = from;
      older.shift();
    }
    await readDown(watermark);
  } finally {
    const read = { from: reached, to, keys: keys.filter((sk) => sk < to) };
    if (settledBefore !== "") remember(id, reached < to ? [read, ...older] : older);
  }
  return keys;
}

/** Forgets all tails, as a new execution environment does not know them. */
export const forgetTails = () => known.clear();

const sortKeys = ({ items }: Segment) => items.map(({ sk }) => String(sk));

/** The parts of spans at or past the watermark. */
function above(watermark: string, spans: readonly Span[]): readonly Span[] {
  return spans
    .filter(({ to }) => to > watermark)
    .map((span) =>
      span.from >= watermark
        ? span
        : { ...span, from: watermark, keys: span.keys.filter((sk) => sk >= watermark) },
    );
}

function remember(id: string, spans: readonly Span[]): void {
  known.delete(id);
  if (spans.length > 0) known.set(id, spans);
  // The first is the one that was read least recently.
  if (known.size > maxRanges) known.delete(known.keys().next().value ?? "");
  let count = [...known.values()].reduce((sum, spans) => sum + countKeys(spans), 0);
  while (count > maxKeys) {
    const [longest = ""] = [...known].sort(([, a], [, b]) => countKeys(b) - countKeys(a))[0] ?? [];
    count -= countKeys(known.get(longest) ?? []);
    known.delete(longest);
  }
}

const countKeys = (spans: readonly Span[]) => spans.reduce((sum, { keys }) => sum + keys.length, 0);

/** The most ranges that an environment remembers. */
const maxRanges = 1000;
