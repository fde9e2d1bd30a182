import { awsRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { seeded } from "../../support/random.ts";
import { Arrivals } from "./arrivals.ts";
import { leadId, listConversations, seedConversations } from "./conversations.ts";
import { conversations } from "./lone-lists.ts";
import type { Product } from "./product.ts";
import { rateLimitOf } from "./rate-limits.ts";
import { type Service, startService } from "./service.ts";
import { largest, quantile } from "./summary.ts";

/** An account that lists the conversations of one lead without a pause, beside a neighbour. */
export interface GreedyPlan {
  /** The requests that each account may send in a minute. */
  readonly rateLimit: number;
  /** How many environments of all functions together can run at once. */
  readonly environments: number;
  /** How long each part of the simulation lasts. */
  readonly seconds: number;
}

/** The neighbour's lists, in milliseconds. */
interface Latencies {
  readonly requests: number;
  readonly exact: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly longest: number;
}

export interface GreedyResult {
  readonly plan: GreedyPlan;
  readonly alone: Latencies;
  readonly beside: Latencies;
  /** The number of responses to the greedy account by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** How long the longest request of the greedy account took, in seconds. */
  readonly longest: number;
  /** The read units of the greedy account's items. */
  readonly unitsPerSecond: number;
}

const [greedy, neighbour] = ["greedy", "next"] as const;
const connections = 12;
const neighbourRate = 10;
const neighbourConversations = 200;

/** What the gateway and the authorizer take of each request, in milliseconds: an assumption. */
const gatewayTime = 5;

/** Finds no conversation, but must look at all of the lead. */
const greedyQuery = `leadId=${leadId}&limit=1&status=nobody`;

/** Simulates the neighbour alone, then beside the greedy account. */
export async function runGreedy(product: Product, plan: GreedyPlan, seed: number): Promise<GreedyResult> {
  const { rateLimit, environments, seconds } = plan;
  const environment = rateLimitOf(rateLimit);
  const options = { product, rates: awsRates, seed, environment, concurrency: environments };
  const service = startService(options, () => {});
  seedConversations(service, greedy, conversations);
  seedConversations(service, neighbour, neighbourConversations);
  const arrivals = new Arrivals(service.clock, seeded(seed + 1));
  // The first lists start environments, while the seeded conversations are counted.
  await listBeside(service, arrivals, seconds);
  const alone = await listBeside(service, arrivals, seconds);
  const before = service.readUnits.get(greedy) ?? 0;
  const load = new GreedyLoad(service, seconds);
  const beside = await listBeside(service, arrivals, seconds, () => load.ended);
  return {
    ...{ plan, alone, beside, statuses: load.statuses, longest: largest(load.times) / 1000 },
    unitsPerSecond: (load.units - before) / seconds,
  };
}

/** Lists the neighbour's conversations for some time. @param ended whether everything else has ended */
async function listBeside(
  service: Service,
  arrivals: Arrivals,
  seconds: number,
  ended = () => true,
): Promise<Latencies> {
  const { clock } = service;
  const times: number[] = [];
  let [requests, exact] = [0, 0];
  arrivals.start(neighbourRate, async () => {
    requests++;
    const start = clock.now;
    await clock.wait(gatewayTime);
    const { page } = await listConversations(service, neighbour, "");
    times.push(clock.now - start);
    if (page?.pagination.total === neighbourConversations) exact++;
  });
  await clock.runUntil(clock.now + seconds * 1000);
  arrivals.stop();
  while (times.length < requests || !ended()) await clock.runUntil(clock.now + 1000);
  return { requests, exact, p50: quantile(times, 0.5), p99: quantile(times, 0.99), longest: largest(times) };
}

/** Connections of the greedy account. Each sends its next request when it has the response to the one before. */
class GreedyLoad {
  readonly statuses: Record<string, number> = {};
  /** How long each request took, in milliseconds. */
  readonly times: number[] = [];
  /** The read units of the account at the end of the load. */
  units = 0;
  #open = connections;
  readonly #service: Service;

  constructor(service: Service, seconds: number) {
    const { clock, readUnits } = service;
    this.#service = service;
    const end = clock.now + seconds * 1000;
    clock.after(seconds * 1000, () => {
      this.units = readUnits.get(greedy) ?? 0;
    });
    for (let connection = 0; connection < connections; connection++) void this.#connect(end);
  }

  /** Whether every request has its response. */
  get ended(): boolean {
    return this.#open === 0;
  }

  async #connect(end: number): Promise<void> {
    const { clock } = this.#service;
    while (clock.now < end) {
      const start = clock.now;
      await clock.wait(gatewayTime);
      const { status } = await listConversations(this.#service, greedy, greedyQuery);
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
      this.times.push(clock.now - start);
    }
    this.#open--;
  }
}
