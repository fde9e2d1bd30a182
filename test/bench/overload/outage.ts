import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import type { Product } from "./product.ts";
import { recover } from "./recovery.ts";
import { Simulation } from "./simulation.ts";
import { largest, line, type Shares, shares } from "./summary.ts";
import { countUncounted } from "./tree-view.ts";

/** An outage of the maintainer, which ends when so many leads are not counted. */
export interface OutagePlan {
  readonly rows: number;
  readonly leadBytes: number;
}

export interface OutageResult {
  readonly plan: OutagePlan;
  /** Of the lists in the last minute of the outage. */
  readonly during: Shares;
  /** Of all lists after the outage, until they recovered. */
  readonly after: Shares;
  /** How long after the outage every list was answered and the tail was short, in seconds; null for never. */
  readonly recovery: number | null;
  /** The largest age of the tail after the outage, in seconds. */
  readonly tailAge: number;
  readonly discarded: number;
}

const account = "acme";
const load = { createsPerSecond: 10, listsPerSecond: 10 };

/** A tail of as many leads is short: those of about half a minute. */
const shortTail = 300;

/** How long the recovery may take, in seconds. */
const mostRecovery = 900;

/**
 * Simulates an outage. The leads that were created during most of it are stored at once, as if no one had requested a
 * list; then requests go on for a minute without the maintainer.
 */
export async function runOutage(product: Product, plan: OutagePlan, seed: number): Promise<OutageResult> {
  const { rows, leadBytes } = plan;
  const options = { product, rates: awsRates, leadBytes, accounts: [account], seed, maintained: false };
  const simulation = new Simulation(options);
  for (let row = load.createsPerSecond * 60; row < rows; row++) {
    simulation.seed(account);
    await simulation.run(1 / load.createsPerSecond);
  }
  simulation.setLoads({ [account]: load });
  await simulation.run(60);
  const during = lists(simulation, 0);
  const [before, samples] = [simulation.requests.length, simulation.samples.get(account)?.length ?? 0];
  simulation.service.source.enable();
  const isShort = () => countUncounted(simulation.service.memory, account) <= shortTail;
  const recovery = await recover(simulation, account, mostRecovery, isShort);
  const after = lists(simulation, before);
  return {
    ...{ plan, during, after, recovery },
    tailAge: largest(line(simulation, account).tailAge.slice(samples)),
    discarded: simulation.service.source.discarded,
  };
}

const lists = (simulation: Simulation, from: number) =>
  shares(simulation.requests.slice(from).filter(({ kind }) => kind === "list"));
