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
  readonly sourcesOrChannels: Dictionary;
}

/** What a list is filtered by. */
export interface Filter {
  readonly status?: string | undefined;
  readonly sourceOrChannel?: string | undefined;
}

/** A cell number is 4 × (source or channel) + status: three named statuses and the others. */
const statusSlots = 4;
const otherStatus = 3;
const noSourceOrChannel = 0;
const otherSourceOrChannel = 1;
const firstSourceOrChannel = 2;

const statusLimits = { names: 3, bytes: 192 };
const sourceOrChannelLimits = { names: 16, bytes: 512 };

/** The dictionaries with the names of a row added, where there is room. */
export function learnNames(
  { statuses, sourcesOrChannels }: Names,
  { status, sourceOrChannel }: Partial<CountedRow>,
): Names {
  return {
    statuses: status === undefined ? statuses : learn(statuses, status, statusLimits),
    sourcesOrChannels:
      sourceOrChannel === undefined
        ? sourcesOrChannels
        : learn(sourcesOrChannels, sourceOrChannel, sourceOrChannelLimits),
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
export function cellNumber(
  { statuses, sourcesOrChannels }: Names,
  { status, sourceOrChannel }: CountedRow,
): number {
  const statusIndex = statuses.names.indexOf(status);
  const index = sourceOrChannel === undefined ? -1 : sourcesOrChannels.names.indexOf(sourceOrChannel);
  const slot =
    sourceOrChannel === undefined
      ? noSourceOrChannel
      : index < 0
        ? otherSourceOrChannel
        : firstSourceOrChannel + index;
  return statusSlots * slot + (statusIndex < 0 ? otherStatus : statusIndex);
}

/**
 * Tells the cells that a filter matches.
 *
 * @returns undefined when the filter has a name that was refused, whose rows are counted among others
 */
export function matcher(
  { statuses, sourcesOrChannels }: Names,
  filter: Filter,
): ((cell: number) => boolean) | undefined {
  const status = findSlot(statuses, filter.status, 0);
  const sourceOrChannel = findSlot(sourcesOrChannels, filter.sourceOrChannel, firstSourceOrChannel);
  if (status === "refused" || sourceOrChannel === "refused") return undefined;
  return (cell) =>
    (status === "any" || cell % statusSlots === status) &&
    (sourceOrChannel === "any" || Math.floor(cell / statusSlots) === sourceOrChannel);
}

/** The slot of a name; a name that was never met has one that no cell has. */
function findSlot({ names, full }: Dictionary, name: string | undefined, first: number) {
  if (name === undefined) return "any";
  const index = names.indexOf(name);
  if (index >= 0) return first + index;
  return full ? "refused" : Number.NaN;
}
