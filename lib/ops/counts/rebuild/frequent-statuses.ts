import { countRows, sumCells } from "../../../../shared/pages/tree/cells.ts";
import type { CountedRow } from "../../../../shared/pages/tree/counted-list.ts";
import type { Root } from "../../../../shared/pages/tree/root.ts";
import { learnStatus, matcher, noStatuses, type Statuses } from "../../../../shared/pages/tree/statuses.ts";

/** The statuses that a tree counts, the most frequent first. */
export function statusesOfTree({ entries, last, statuses }: Root): Statuses {
  const cells = sumCells([...entries, last].map((entry) => entry.cells));
  return frequentStatuses(
    new Map(statuses.names.map((status) => [status, countRows(cells, matcher(statuses, status))])),
  );
}

/** The most frequent statuses of rows. @returns also the number of rows */
export async function statusesOfRows(
  parts: AsyncIterable<readonly CountedRow[]>,
): Promise<{ statuses: Statuses; rows: number }> {
  const frequencies = new Map<string, number>();
  let count = 0;
  for await (const rows of parts) {
    for (const { status } of rows) frequencies.set(status, (frequencies.get(status) ?? 0) + 1);
    count += rows.length;
  }
  return { statuses: frequentStatuses(frequencies), rows: count };
}

const frequentStatuses = (frequencies: ReadonlyMap<string, number>): Statuses =>
  [...frequencies]
    .filter(([, rows]) => rows > 0)
    .sort(([, a], [, b]) => b - a)
    .reduce((statuses, [status]) => learnStatus(statuses, status), noStatuses);
