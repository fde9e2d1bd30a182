import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { buildProduct } from "../overload/product.ts";
import { buildOperations } from "./operations.ts";
import { populate } from "./population.ts";
import { runTrial, type Trial } from "./trial.ts";

/** What one run measured of one checkout. */
export interface Results {
  /** Names the checkout in the report. */
  readonly label: string;
  readonly leads: number;
  /** How long the run took, in real seconds. */
  readonly seconds: number;
  readonly trials: readonly Trial[];
}

export interface RunOptions {
  /** The directory of the checkout. */
  readonly source: string;
  readonly label: string;
  readonly leads: number;
  /** The number of trials, with the seeds from 1. */
  readonly seeds: number;
  readonly log: (line: string) => void;
}

/** As the option `--units` of the commands has it by default. */
const units = 1500;

const leadBytes = 1024;

/** Numbers of sources, each of which has a tree of its own. */
const sourceCounts = [4, 20];

/** Runs half of the trials with each number of sources. */
export async function run({ source, label, leads, seeds, log }: RunOptions): Promise<Results> {
  const start = performance.now();
  const [product, load] = await Promise.all([buildProduct(source), buildOperations(source)]);
  const trials: Trial[] = [];
  for (const [half, count] of sourceCounts.entries()) {
    const end = half === 0 ? Math.ceil(seeds / 2) : seeds;
    if (trials.length === end) continue;
    log(`storing ${leads} leads with ${count} sources`);
    const sources = Array.from({ length: count }, (_, n) => `source-${n}`);
    const population = await populate(load, { leads, leadBytes, sources });
    while (trials.length < end) {
      const trial = await runTrial({
        product,
        load,
        population,
        rates: awsRates,
        units,
        seed: trials.length + 1,
      });
      log(JSON.stringify(trial));
      trials.push(trial);
    }
  }
  return { label, leads, seconds: Math.round((performance.now() - start) / 1000), trials };
}
