import type { Job, Scale } from "../job.ts";
import { buildLeads } from "../leads.ts";
import type { Population } from "../population.ts";
import { type Distribution, sourcePicker } from "./distribution.ts";
import type { SourcesReport } from "./read-sources.ts";

const skewed: readonly Distribution[] = [1, 16, 200, 10_000].map((sources) => ({ sources, skewed: true }));
const uniform: readonly Distribution[] = [16, 200, 10_000].map((sources) => ({ sources, skewed: false }));

/** Reads the lists of one source in accounts with different numbers of sources. */
export const sourcesJobs = (scale: Scale): Job<SourcesReport>[] => [
  job(10_000, [...skewed, ...uniform]),
  ...(scale === "quick" ? [] : [job(100_000, [...skewed, ...uniform])]),
  // The leads of one of them take 3 GB of disk.
  ...(scale === "million"
    ? [...skewed, ...uniform].map((distribution) => job(1_000_000, [distribution]))
    : []),
];

const job = (size: number, distributions: readonly Distribution[]): Job<SourcesReport> => ({
  name: `sources-${size}${suffix(distributions)}`,
  prepare() {
    const accounts = distributions.map((distribution) => ({
      distribution,
      population: build(size, distribution),
    }));
    return {
      populations: accounts.map(({ population }) => population),
      async measure(log) {
        const { readSources } = await import("./read-sources.ts");
        const reports = [];
        for (const { distribution, population } of accounts) {
          log(`reading ${population.account}`);
          reports.push(await readSources(population, distribution));
        }
        return reports;
      },
    };
  },
});

/** An account that has a job of its own gives it its name. */
const suffix = ([first, ...others]: readonly Distribution[]) =>
  first && others.length === 0 ? `-${nameOf(first)}` : "";

const nameOf = ({ sources, skewed }: Distribution) => `${skewed ? "skewed" : "uniform"}-${sources}`;

function build(size: number, distribution: Distribution): Population {
  return buildLeads(nameOf(distribution), size, sourcePicker(distribution));
}
