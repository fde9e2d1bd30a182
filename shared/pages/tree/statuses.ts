/** Statuses with cells of their own, in the order of their first rows. */
export interface Statuses {
  readonly names: readonly string[];
  /** Whether a status was refused. Its rows are counted as others, so no status is added until a rebuild. */
  readonly full: boolean;
}

export const noStatuses: Statuses = { names: [], full: false };

/** The number of the cell of all statuses without a cell of their own. */
const otherStatus = 3;

const most = { names: otherStatus, bytes: 192 };

/** Adds a status, if there is room. */
export function learnStatus(statuses: Statuses, status: string): Statuses {
  const { names, full } = statuses;
  if (full || names.includes(status)) return statuses;
  const longer = [...names, status];
  const fits = longer.length <= most.names && Buffer.byteLength(longer.join("")) <= most.bytes;
  return fits ? { names: longer, full } : { names, full: true };
}

/** The number of the cell that counts the rows of a status. */
export function cellNumber({ names }: Statuses, status: string): number {
  const index = names.indexOf(status);
  return index < 0 ? otherStatus : index;
}

/**
 * Matches the cells of a status, or all cells without one.
 *
 * @returns undefined for a status that was refused, whose rows are counted as others
 */
export function matcher(
  { names, full }: Statuses,
  status: string | undefined,
): ((cell: number) => boolean) | undefined {
  if (status === undefined) return () => true;
  const index = names.indexOf(status);
  if (index < 0) return full ? undefined : () => false;
  return (cell) => cell === index;
}
