/** Counts of rows by cell number; a cell without rows is absent. */
export type Cells = ReadonlyMap<number, number>;

/** The sums, cell by cell. */
export function sumCells(all: Iterable<Cells>): Cells {
  const sum = new Map<number, number>();
  for (const cells of all) for (const [cell, count] of cells) sum.set(cell, (sum.get(cell) ?? 0) + count);
  return sum;
}

/** The number of rows in a cell, or in all cells. */
export function countRows(cells: Cells, cell?: number): number {
  if (cell !== undefined) return cells.get(cell) ?? 0;
  let rows = 0;
  for (const count of cells.values()) rows += count;
  return rows;
}

export function equalCells(a: Cells, b: Cells): boolean {
  return a.size === b.size && [...a].every(([cell, count]) => b.get(cell) === count);
}
