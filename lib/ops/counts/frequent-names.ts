import { learnNames, type Names } from "../../../shared/pages/tree/names.ts";
import { emptyRoot } from "../../../shared/pages/tree/root.ts";
import type { CountedOwner } from "../../../shared/pages/tree/tree-store.ts";
import { type Reading, readAllRows } from "./all-rows.ts";

/** Reads all rows of a list. @returns dictionaries of the most frequent names, and the number of rows */
export async function readFrequentNames(
  owner: CountedOwner,
  reading: Reading,
): Promise<{ readonly names: Names; readonly count: number }> {
  const statuses = new Map<string, number>();
  const sourcesOrChannels = new Map<string | undefined, number>();
  let count = 0;
  for await (const rows of readAllRows(owner, { start: "" }, reading)) {
    for (const { status, sourceOrChannel } of rows) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      sourcesOrChannels.set(sourceOrChannel, (sourcesOrChannels.get(sourceOrChannel) ?? 0) + 1);
    }
    count += rows.length;
  }
  let names = emptyRoot(0).names;
  for (const status of sortByFrequency(statuses)) names = learnNames(names, { status });
  for (const sourceOrChannel of sortByFrequency(sourcesOrChannels))
    names = learnNames(names, { sourceOrChannel });
  return { names, count };
}

const sortByFrequency = <T>(counts: Map<T, number>) =>
  [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
