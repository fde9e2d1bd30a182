import { countRows, sumCells } from "../../../shared/pages/tree/cells.ts";
import type { CountedRow } from "../../../shared/pages/tree/counted-list.ts";
import { type Filter, learnNames, matcher, type Names } from "../../../shared/pages/tree/names.ts";
import { emptyRoot, type Root } from "../../../shared/pages/tree/root.ts";

/** How many rows have each name. */
type Frequencies = ReadonlyMap<string | undefined, number>;

/** Whether the tree counts the rows of every name, so that its cells tell which names are frequent. */
export const hasAllNames = ({ names }: Root) => !names.statuses.full && !names.labels.full;

/** Dictionaries of the names that a tree counts, the most frequent first. */
export function namesOfTree({ entries, last, names }: Root): Names {
  const cells = sumCells([...entries, last].map((entry) => entry.cells));
  const count = (filter: Filter) => countRows(cells, matcher(names, filter));
  return frequentNames(
    new Map(names.statuses.names.map((status) => [status, count({ status })])),
    new Map(names.labels.names.map((sourceOrChannel) => [sourceOrChannel, count({ sourceOrChannel })])),
  );
}

/** Dictionaries of the most frequent names of rows. @returns also the number of rows */
export async function namesOfRows(
  parts: AsyncIterable<readonly CountedRow[]>,
): Promise<{ names: Names; rows: number }> {
  const statuses = new Map<string, number>();
  const sourcesOrChannels = new Map<string | undefined, number>();
  let count = 0;
  for await (const rows of parts) {
    for (const { status, sourceOrChannel } of rows) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      sourcesOrChannels.set(sourceOrChannel, (sourcesOrChannels.get(sourceOrChannel) ?? 0) + 1);
    }
    count += rows.length;
  }
  return { names: frequentNames(statuses, sourcesOrChannels), rows: count };
}

function frequentNames(statuses: Frequencies, sourcesOrChannels: Frequencies): Names {
  let { names } = emptyRoot(0);
  for (const status of sortByFrequency(statuses)) names = learnNames(names, { status });
  for (const sourceOrChannel of sortByFrequency(sourcesOrChannels))
    names = learnNames(names, { sourceOrChannel });
  return names;
}

/** The names that rows have. */
const sortByFrequency = (frequencies: Frequencies) =>
  [...frequencies]
    .filter(([, rows]) => rows > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name);
