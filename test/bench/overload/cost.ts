import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import type { Product } from "./product.ts";
import { Simulation } from "./simulation.ts";
import { type ListCosts, listCosts, type Shares, shares } from "./summary.ts";

/** The load of an account with leads of about a number of bytes. */
export interface CostPlan {
  readonly createsPerSecond: number;
  readonly leadBytes: number;
  /** How many sources the leads have, whose lists are measured; without it, the lists of the account are. */
  readonly sources?: number;
}

export interface CostResult extends CostPlan {
  /** What became of the lists. */
  readonly shares: Shares;
  /** Of all lists; of an account without creates, only of first pages. */
  readonly costs: ListCosts;
}

const account = "acme";
const listsPerSecond = 10;

/** How many leads the account has before the requests. */
const leads = 5000;

/** How long creates go on before lists are measured, and how long those are, in seconds. */
const warmUp = 60;
const measured = 180;

/** Measures what lists cost while leads are created at a rate that the limits allow, or at none. */
export async function runCost(product: Product, plan: CostPlan, seed: number): Promise<CostResult> {
  const { createsPerSecond, leadBytes } = plan;
  const sources = plan.sources && Array.from({ length: plan.sources }, (_, n) => `source-${n}`);
  const options = { product, rates: awsRates, leadBytes, accounts: [account], seed };
  const simulation = new Simulation(sources ? { ...options, sources } : options);
  for (let lead = 0; lead < leads; lead++) simulation.seed(account);
  await simulation.run(warmUp);
  simulation.setLoads({ [account]: { createsPerSecond, listsPerSecond, ofSources: sources !== undefined } });
  await simulation.run(warmUp);
  const before = simulation.requests.length;
  await simulation.run(measured);
  const lists = simulation.requests
    .slice(before)
    .filter(({ kind, page }) => kind === "list" && (createsPerSecond > 0 || page === 1));
  return { ...plan, shares: shares(lists), costs: listCosts(lists) };
}
