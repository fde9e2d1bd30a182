import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import type { Product } from "./product.ts";
import { recover } from "./recovery.ts";
import type { Request } from "./request.ts";
import { type Load, Simulation } from "./simulation.ts";
import { type Line, type ListCosts, largest, line, listCosts, type Shares, shares } from "./summary.ts";

/** A steady load of one account, beside a neighbour's on the same shard. */
export interface SteadyPlan extends Load {
  readonly leadBytes: number;
  /** For how many seconds the table keeps unused capacity. */
  readonly burstSeconds: number;
  /** How long the load lasts, unless the lists collapse. */
  readonly seconds: number;
}

export interface SteadyResult {
  readonly plan: SteadyPlan;
  /** How long the load lasted. */
  readonly seconds: number;
  readonly collapsed: boolean;
  readonly creates: Shares;
  readonly lists: Shares;
  readonly neighbourLists: Shares;
  readonly costs: ListCosts;
  /** The largest ages while the load lasted, in seconds. */
  readonly streamAge: number;
  readonly tailAge: number;
  /** How many records of the stream were sent to the failure queue. */
  readonly discarded: number;
  readonly environments: { readonly lists: number; readonly creates: number };
  /** After the load, how long until every list was answered; null for never. */
  readonly recovery: number | null;
  readonly account: Line;
  readonly neighbour: Line;
}

const account = "acme";
const neighbour = "next";
const neighbourLoad: Load = { createsPerSecond: 1, listsPerSecond: 1 };
const lightLoad: Load = { createsPerSecond: 5, listsPerSecond: 5 };

/** How many minutes almost no list must be answered in for a collapse, and what "almost no" is. */
const collapseMinutes = 3;
const collapseShare = 0.01;

/** How long lists may take to recover, in seconds. */
const mostRecovery = 600;

/** Simulates a steady load until its end or the collapse of the lists, then a light one until they recover. */
export async function runSteady(product: Product, plan: SteadyPlan, seed: number): Promise<SteadyResult> {
  const { leadBytes, burstSeconds } = plan;
  const rates = { ...awsRates, burstSeconds };
  const simulation = new Simulation({ product, rates, leadBytes, accounts: [account, neighbour], seed });
  simulation.setLoads({ [account]: plan, [neighbour]: neighbourLoad });
  let quietMinutes = 0;
  let seconds = 0;
  for (; seconds < plan.seconds && quietMinutes < collapseMinutes; seconds += 60) {
    const before = simulation.requests.length;
    await simulation.run(Math.min(60, plan.seconds - seconds));
    const { answered } = shares(of(simulation.requests.slice(before), account, "list"));
    quietMinutes = answered < collapseShare ? quietMinutes + 1 : 0;
  }
  const requests = [...simulation.requests];
  const [during, beside] = [line(simulation, account), line(simulation, neighbour)];
  const { discarded } = simulation.service.source;
  simulation.setLoads({ [account]: lightLoad, [neighbour]: neighbourLoad });
  const recovery = await recover(simulation, account, mostRecovery);
  const lists = of(requests, account, "list");
  return {
    ...{ plan, seconds, collapsed: quietMinutes >= collapseMinutes, discarded, recovery },
    creates: shares(of(requests, account, "create")),
    lists: shares(lists),
    neighbourLists: shares(of(requests, neighbour, "list")),
    costs: listCosts(lists),
    streamAge: largest(during.streamAge),
    tailAge: Math.max(largest(during.tailAge), largest(beside.tailAge)),
    environments: {
      lists: simulation.service.pools["list-leads"].started,
      creates: simulation.service.pools["create-lead"].started,
    },
    account: line(simulation, account),
    neighbour: line(simulation, neighbour),
  };
}

const of = (requests: readonly Request[], account: string, kind: Request["kind"]) =>
  requests.filter((request) => request.account === account && request.kind === kind);
