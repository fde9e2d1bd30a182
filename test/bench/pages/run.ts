import { installMeter } from "../../support/meter.ts";
import { installClock } from "./clock.ts";
import type { Population } from "./population.ts";
import type { Results } from "./results.ts";
import { type AccountReport, backdate, countSources, readAccount, writeAccount } from "./scenarios.ts";

/** The accounts of a run, none of them counted yet. */
export interface Populations {
  /** The smallest first. */
  readonly sizes: readonly Population[];
  readonly sources: Population;
  readonly backdated: readonly { readonly population: Population; readonly late: boolean }[];
  /** How many back-dated leads are imported into one leaf. */
  readonly imported: number;
}

/** Runs every scenario; a wrong response ends the run. */
export async function run(
  { sizes, sources, backdated, imported }: Populations,
  log: (line: string) => void,
): Promise<Results> {
  installMeter();
  installClock();
  const accounts: AccountReport[] = [];
  for (const population of sizes) {
    log(`reading ${population.size.toLocaleString("en")} leads`);
    accounts.push(await readAccount(population));
  }
  const largest = sizes.at(-1);
  log("writing");
  const writings = largest ? await writeAccount(largest) : [];
  log("many sources");
  const tree = await countSources(sources);
  const imports = [];
  for (const { population, late } of backdated) {
    log(`importing back-dated leads, the stream ${late ? "late" : "at once"}`);
    imports.push(await backdate(population, imported, { order: late ? "by time" : "random", late }));
  }
  return { accounts, writings, sources: tree, backdated: imports };
}
