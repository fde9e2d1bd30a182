import { noCells } from "../../../../shared/pages/tree/cells.ts";
import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import type { Entry } from "../../../../shared/pages/tree/entry.ts";

/** An entry with its whole range: up to before the sort key `end`. */
export interface EntryRange extends Entry {
  /** Where the range begins: before its start, if it is the first entry of the tree of a sublist. */
  readonly from: string;
  readonly end: string;
}

/**
 * The ranges of adjacent entries of a level, which together are from `start` to `end`. The rows of a sublist are entries
 * themselves, so an empty entry is the range before the first one.
 */
export function toRanges(
  { sublist }: CountedOwner,
  level: number,
  entries: readonly Entry[],
  { start, end }: { readonly start: string; readonly end: string },
): EntryRange[] {
  const gap = { start, cells: noCells };
  const all = sublist && level === 0 && entries[0]?.start !== start ? [gap, ...entries] : entries;
  return all.map((entry, index) => ({
    ...entry,
    from: index === 0 ? start : entry.start,
    end: all[index + 1]?.start ?? end,
  }));
}
