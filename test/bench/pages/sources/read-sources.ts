import { type Counting, countAccount } from "../count-account.ts";
import { growLists } from "../grow-lists.ts";
import { leadList, type MeasuredList } from "../measured-list.ts";
import type { Population } from "../population.ts";
import { type ListReading, readList } from "../read-list.ts";
import { type TreeSize, treeSize } from "../tree.ts";
import type { Distribution } from "./distribution.ts";
import { type RankedSource, rankSources, sampleSources } from "./sample.ts";

/** The cost of the lists of one source, without a status and with one. */
export interface SourceReport extends Omit<RankedSource, "source"> {
  readonly readings: readonly ListReading[];
}

/** The cost of lists of one source in an account. */
export interface SourcesReport {
  readonly size: number;
  readonly distribution: Distribution;
  /** The tree of the whole list. */
  readonly tree: TreeSize;
  readonly counting: Counting;
  readonly sources: readonly SourceReport[];
  /** Lists to which leads were added since. */
  readonly grown: readonly SourceReport[];
}

/** How many random pages of a list are read, before and after leads are added to it. */
const randomPages = 30;
const randomGrownPages = 15;

/** Counts an account and reads the lists of some of its sources. */
export async function readSources(
  population: Population,
  distribution: Distribution,
): Promise<SourcesReport> {
  const { account, size } = population;
  const sampled = sampleSources(rankSources(population));
  const counting = await countAccount(population);
  const sources = await readEach(population, sampled, randomPages);
  const growing = sampled.filter((_, index) => index % 2 === 0);
  await growLists(
    population,
    growing.map(({ source }) => ({ status: "new", source })),
  );
  const grown = await readEach(population, growing, randomGrownPages);
  return { size, distribution, counting, sources, grown, tree: await treeSize(account) };
}

async function readEach(population: Population, sources: readonly RankedSource[], random: number) {
  const reports: SourceReport[] = [];
  for (const { source, rank, count } of sources) {
    const readings: ListReading[] = [];
    for (const list of listsOf(population, source))
      readings.push(await readList(list, { random, cold: true }));
    reports.push({ rank, count, readings });
  }
  return reports;
}

const listsOf = (population: Population, source: string): MeasuredList[] => [
  leadList(population, { source }, "source"),
  leadList(population, { source, status: "new" }, "source + new"),
  leadList(population, { source, status: "booked" }, "source + booked"),
];
