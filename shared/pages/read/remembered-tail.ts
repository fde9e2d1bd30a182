import { earliest, keyAt } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { limits } from "../tree/tree-limits.ts";
import type { CountedRange } from "./counted-range.ts";
import { type Range, rangeId } from "./range.ts";

/** The sort keys, newest first, of all rows of a tail from one sort key to before another. */
export interface Span {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

/** How far a tail is remembered. */
export interface TailMemory {
  /** The sort key before which rows are remembered: no route creates a row there any more. */
  readonly until: string;
  /** Rows of the tail were changed when this is another one. */
  readonly version: string;
}

/**
 * How far the tail of a list is remembered: only that of a whole list, because an index may be late, not that of a window,
 * and until one of its rows is changed. Without a root, nothing would tell of changes.
 */
export const tailMemory = (
  { range, tree, window }: CountedRange,
  root: Root | undefined,
): TailMemory | undefined =>
  root && range.index === undefined && window.from === undefined && window.before === undefined
    ? {
        until: keyAt(tree.list, Date.now() - limits.allowedLateness),
        version: String(root.version),
      }
    : undefined;

/**
 * What this environment knows of tails, by their ranges. Lists need not read these rows again: so a list's cost depends on
 * the rows of the last seconds, however far the watermark is behind.
 */
const known = new Map<string, Span & Pick<TailMemory, "version">>();

/** The most sort keys that an environment remembers: about 60 MB, or the creates of three hours at 100 a second. */
const maxKeys = 1_000_000;

/** The most tails that an environment remembers. */
const maxTails = 1000;

/** The rows of a tail past the watermark that are remembered, if there are any. */
export function recall(range: Range, watermark: string, memory: TailMemory | undefined): Span | undefined {
  const found = memory && known.get(rangeId(range));
  return found && found.version === memory.version && found.to > watermark ? found : undefined;
}

/** Remembers rows of a tail, as far as its memory goes, in place of those that were remembered before. */
export function remember(range: Range, span: Span, { until, version }: TailMemory): void {
  const to = earliest(until, span.to);
  if (span.from >= to) return;
  const id = rangeId(range);
  known.delete(id);
  known.set(id, { version, from: span.from, to, keys: span.keys.filter((sk) => sk < to) });
  let count = [...known.values()].reduce((sum, { keys }) => sum + keys.length, 0);
  for (const [oldest, { keys }] of known) {
    if (known.size <= maxTails && count <= maxKeys) break;
    // The first is the one that was read least recently.
    known.delete(oldest);
    count -= keys.length;
  }
}

/** Forgets all tails, as a new execution environment does not know them. */
export const forgetTails = () => known.clear();
