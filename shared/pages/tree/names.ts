import type { CountedRow } from "./counted-list.ts";

/** Names with cells of their own, in the order of their first rows. */
export interface Dictionary {
  readonly names: readonly string[];
  /** Whether a name was refused. Its rows are counted as others, so no name is added until a rebuild. */
  readonly full: boolean;
}

export const emptyDictionary: Dictionary = { names: [], full: false };

/** The dictionaries of a tree, which give its cell numbers their meaning. */
export interface Names {
  readonly statuses: Dictionary;
  /** Of sources or channels. */
  readonly labels: Dictionary;
}

/** The filter of a list. */
export interface Filter {
  readonly status?: string | undefined;
  readonly sourceOrChannel?: string | undefined;
}

/**
 * A cell number is 4 × slot + status. Statuses are three named ones and the others; slot 0 is for rows without a source or
 * channel, slot 1 for the others, and the names follow.
 */
const statusSlots = 4;
const otherStatus = 3;
const firstSlot = 2;

const statusLimits = { names: 3, bytes: 192 };
const sourceOrChannelLimits = { names: 16, bytes: 512 };

/** Adds the names of a row to the dictionaries, if there is room. */
export function learnNames(
  { statuses, labels }: Names,
  { status, sourceOrChannel }: Partial<CountedRow>,
): Names {
  return {
    statuses: learn(statuses, status, statusLimits),
    labels: learn(labels, sourceOrChannel, sourceOrChannelLimits),
  };
}

function learn(
  dictionary: Dictionary,
  name: string | undefined,
  most: { names: number; bytes: number },
): Dictionary {
  const { names, full } = dictionary;
  if (name === undefined || full || names.includes(name)) return dictionary;
  const longer = [...names, name];
  const fits = longer.length <= most.names && Buffer.byteLength(longer.join("")) <= most.bytes;
  return fits ? { names: longer, full } : { names, full: true };
}

/** The number of the cell that counts a row. */
export function cellNumber({ statuses, labels }: Names, { status, sourceOrChannel }: CountedRow): number {
  const statusIndex = statuses.names.indexOf(status);
  // The index of an unnamed source or channel is -1, so its slot is 1.
  const slot = sourceOrChannel === undefined ? 0 : firstSlot + labels.names.indexOf(sourceOrChannel);
  return statusSlots * slot + (statusIndex < 0 ? otherStatus : statusIndex);
}

/**
 * Matches the cells of a filter.
 *
 * @returns undefined for a filter with a refused name, whose rows are counted as others
 */
export function matcher(
  { statuses, labels }: Names,
  filter: Filter,
): ((cell: number) => boolean) | undefined {
  const status = findSlot(statuses, filter.status, 0);
  const sourceOrChannel = findSlot(labels, filter.sourceOrChannel, firstSlot);
  if (status === "refused" || sourceOrChannel === "refused") return undefined;
  return (cell) =>
    (status === "any" || cell % statusSlots === status) &&
    (sourceOrChannel === "any" || Math.floor(cell / statusSlots) === sourceOrChannel);
}

/** The slot of a name; NaN, which no cell has, for a name without rows. */
function findSlot({ names, full }: Dictionary, name: string | undefined, first: number) {
  if (name === undefined) return "any";
  const index = names.indexOf(name);
  if (index >= 0) return first + index;
  return full ? "refused" : Number.NaN;
}
