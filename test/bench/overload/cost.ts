import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import type { Product } from "./product.ts";
import { Simulation } from "./simulation.ts";
import { type ListCosts, listCosts } from "./summary.ts";

export interface CostResult {
  readonly createsPerSecond: number;
  readonly leadBytes: number;
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
export async function runCost(
  product: Product,
  plan: { readonly createsPerSecond: number; readonly leadBytes: number },
  seed: number,
): Promise<CostResult> {
  const { createsPerSecond, leadBytes } = plan;
  const simulation = new Simulation({ product, rates: awsRates, leadBytes, accounts: [account], seed });
  for (let lead = 0; lead < leads; lead++) simulation.seed(account);
  await simulation.run(warmUp);
  simulation.setLoads({ [account]: { createsPerSecond, listsPerSecond } });
  await simulation.run(warmUp);
  const before = simulation.requests.length;
  await simulation.run(measured);
  const lists = simulation.requests
    .slice(before)
    .filter(({ kind, page }) => kind === "list" && (createsPerSecond > 0 || page === 1));
  return { ...plan, costs: listCosts(lists) };
}
