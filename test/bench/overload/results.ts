import { writeFile } from "node:fs/promises";
import { type CostPlan, type CostResult, runCost } from "./cost.ts";
import { type GreedyPlan, type GreedyResult, runGreedy } from "./greedy.ts";
import { type HotAccountPlan, type HotAccountResult, runHotAccount } from "./hot-account.ts";
import { filters, type LoneListsResult, runLoneLists } from "./lone-lists.ts";
import { type OutageResult, runOutage } from "./outage.ts";
import { buildProduct } from "./product.ts";
import { runSteady, type SteadyPlan, type SteadyResult } from "./steady.ts";

/** What one run measured of one checkout. */
export interface Results {
  /** Names the checkout in the report. */
  readonly label: string;
  /** How long the run took, in real seconds. */
  readonly seconds: number;
  readonly steady: readonly SteadyResult[];
  readonly outages: readonly OutageResult[];
  readonly costs: readonly CostResult[];
  readonly loneLists: readonly LoneListsResult[];
  readonly greedy: readonly GreedyResult[];
  readonly hotAccounts: readonly HotAccountResult[];
}

export interface RunOptions {
  /** The directory of the checkout. */
  readonly source: string;
  readonly label: string;
  readonly scenarios: readonly Scenario[];
  /** How long a steady load lasts, in virtual minutes. */
  readonly minutes: number;
  /** Decides the times of requests and everything else that is random. */
  readonly seed: number;
  readonly log: (line: string) => void;
}

export const scenarios = ["steady", "outages", "costs", "one-lead", "hot-account"] as const;

export type Scenario = (typeof scenarios)[number];

/** Creates and lists a second, and the bytes of a lead: a little below a multiple of a unit. */
const loads = [
  [50, 50, 1000],
  [20, 80, 1000],
  [35, 65, 700],
  [20, 20, 4000],
  [100, 100, 330],
] as const;

const steadyPlans = (seconds: number): SteadyPlan[] =>
  [0, 300].flatMap((burstSeconds) =>
    loads.map(([createsPerSecond, listsPerSecond, leadBytes]) => ({
      ...{ createsPerSecond, listsPerSecond, leadBytes, burstSeconds, seconds },
    })),
  );

const outagePlans = [10_000, 100_000].flatMap((rows) =>
  [330, 1000].map((leadBytes) => ({ rows, leadBytes })),
);

const costPlans: CostPlan[] = [
  ...[0, 10, 50, 100].map((createsPerSecond) => ({ createsPerSecond, leadBytes: 1000 })),
  ...[1, 16, 200].map((sources) => ({ createsPerSecond: 50, leadBytes: 330, sources })),
];

/** The rate limit of the stage `dev`, and one that only the other limits stay below. */
const greedyPlans: GreedyPlan[] = [6000, 1_000_000].map((rateLimit) => ({
  ...{ rateLimit, environments: 10, seconds: 60 },
}));

const hotAccountPlans: HotAccountPlan[] = [
  { requestsPerSecond: 5000, environments: 800, rateLimit: 6000, minutes: 2 },
];

/** Runs scenarios one after the other. */
export async function run({ source, label, scenarios, minutes, seed, log }: RunOptions): Promise<Results> {
  const start = performance.now();
  const product = await buildProduct(source);
  const each = async <Plan, Result>(
    scenario: Scenario,
    plans: readonly Plan[],
    simulate: (plan: Plan) => Promise<Result>,
  ): Promise<Result[]> => {
    const results: Result[] = [];
    for (const plan of scenarios.includes(scenario) ? plans : []) {
      log(`${scenario} ${JSON.stringify(plan)}`);
      results.push(await simulate(plan));
    }
    return results;
  };
  return {
    label,
    steady: await each("steady", steadyPlans(minutes * 60), (plan) => runSteady(product, plan, seed)),
    outages: await each("outages", outagePlans, (plan) => runOutage(product, plan, seed)),
    costs: await each("costs", costPlans, (plan) => runCost(product, plan, seed)),
    loneLists: await each("one-lead", filters, (filter) => runLoneLists(product, filter, seed)),
    greedy: await each("one-lead", greedyPlans, (plan) => runGreedy(product, plan, seed)),
    hotAccounts: await each("hot-account", hotAccountPlans, (plan) => runHotAccount(product, plan, seed)),
    seconds: Math.round((performance.now() - start) / 1000),
  };
}

export const save = (file: string, results: Results) => writeFile(file, `${JSON.stringify(results)}\n`);
