import type { CountedRow } from "./counted-list.ts";

/** Names that have cells of their own, in the order in which they were met. */
export interface Dictionary {
  readonly names: readonly string[];
  /** Whether a name was refused: since then some rows are counted as others, so no name is added any more. */
  readonly full: boolean;
}

export const emptyDictionary: Dictionary = { names: [], full: false };

/** The dictionaries of a tree: what its cell numbers mean. */
export interface Names {
  readonly statuses: Dictionary;
  readonly origins: Dictionary;
}

/** What a list is filtered by. */
export interface Filter {
  readonly status?: string | undefined;
  readonly origin?: string | undefined;
}

/** A cell number is 4 × origin + status: three named statuses and the others. */
const statusSlots = 4;
const otherStatus = 3;
const noOrigin = 0;
const otherOrigin = 1;
const firstOrigin = 2;

const statusLimits = { names: 3, bytes: 192 };
const originLimits = { names: 16, bytes: 512 };

/** The dictionaries with the names of a row added, where there is room. */
export function learnNames({ statuses, origins }: Names, { status, origin }: Partial<CountedRow>): Names {
  return {
    statuses: status === undefined ? statuses : learn(statuses, status, statusLimits),
    origins: origin === undefined ? origins : learn(origins, origin, originLimits),
  };
}

function learn(dictionary: Dictionary, name: string, most: { names: number; bytes: number }): Dictionary {
  const { names, full } = dictionary;
  if (full || names.includes(name)) return dictionary;
  const longer = [...names, name];
  const fits = longer.length <= most.names && Buffer.byteLength(longer.join("")) <= most.bytes;
  return fits ? { names: longer, full } : { names, full: true };
}

/** The cell that a row is counted in. */
export function cellOf({ statuses, origins }: Names, { status, origin }: CountedRow): number {
  const statusIndex = statuses.names.indexOf(status);
  const originIndex = origin === undefined ? -1 : origins.names.indexOf(origin);
  const originSlot =
    origin === undefined ? noOrigin : originIndex < 0 ? otherOrigin : firstOrigin + originIndex;
  return statusSlots * originSlot + (statusIndex < 0 ? otherStatus : statusIndex);
}

/**
 * Tells the cells that a filter matches.
 *
 * @returns undefined when the filter has a name that was refused, whose rows are counted among others
 */
export function matcher(
  { statuses, origins }: Names,
  filter: Filter,
): ((cell: number) => boolean) | undefined {
  const status = slotOf(statuses, filter.status, 0);
  const origin = slotOf(origins, filter.origin, firstOrigin);
  if (status === "refused" || origin === "refused") return undefined;
  return (cell) =>
    (status === "any" || cell % statusSlots === status) &&
    (origin === "any" || Math.floor(cell / statusSlots) === origin);
}

/** The slot of a name; a name that was never met has one that no cell has. */
function slotOf({ names, full }: Dictionary, name: string | undefined, first: number) {
  if (name === undefined) return "any";
  const index = names.indexOf(name);
  if (index >= 0) return first + index;
  return full ? "refused" : Number.NaN;
}
