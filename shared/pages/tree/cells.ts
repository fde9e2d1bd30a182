/** Counts of rows by cell number; a cell without rows is absent. */
export type Cells = ReadonlyMap<number, number>;

export const noCells: Cells = new Map();

/** The sums, cell by cell. */
export function sumCells(all: Iterable<Cells>): Cells {
  const sum = new Map<number, number>();
  for (const cells of all) for (const [cell, count] of cells) sum.set(cell, (sum.get(cell) ?? 0) + count);
  return sum;
}

/** The number of rows in the cells that match. */
export function countRows(cells: Cells, matches: (cell: number) => boolean = () => true): number {
  let rows = 0;
  for (const [cell, count] of cells) if (matches(cell)) rows += count;
  return rows;
}

export function equalCells(a: Cells, b: Cells): boolean {
  return a.size === b.size && [...a].every(([cell, count]) => b.get(cell) === count);
}
