import { awsRates, type PartitionRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { routeEvent } from "../../support/events.ts";
import { seeded } from "../../support/random.ts";
import { Arrivals } from "./arrivals.ts";
import type { Load, Product } from "./product.ts";
import { rateLimitOf } from "./rate-limits.ts";
import { type Service, startService } from "./service.ts";
import { largest, quantile } from "./summary.ts";

/** An account that sends far more than its limit to many environments, beside a neighbour. */
export interface HotAccountPlan {
  readonly requestsPerSecond: number;
  /** How many environments serve the account at a time. */
  readonly environments: number;
  /** The requests that each account may send in a minute. */
  readonly rateLimit: number;
  readonly minutes: number;
}

interface Responses {
  readonly requests: number;
  /** The number of responses by their problem, or by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Their times, in milliseconds. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly longest: number;
}

export interface HotAccountResult {
  readonly plan: HotAccountPlan;
  /** How many environments were started for both accounts. */
  readonly started: number;
  /** Attempts of table calls that were throttled. */
  readonly throttled: number;
  readonly hot: Responses;
  /** The neighbour, before the other account sends anything and then beside it. */
  readonly alone: Responses;
  readonly beside: Responses;
  /** The hot account's responses that were within its rate limit, in all minutes. */
  readonly granted: number;
}

const [hot, neighbour] = ["hot", "next"] as const;
const neighbourRate = 5;
const minute = 60_000;

/**
 * Simulates both accounts with leads that they create: a write waits for its permit, so refused requests use nothing but
 * the limiter's item.
 */
export async function runHotAccount(
  product: Product,
  plan: HotAccountPlan,
  seed: number,
  rates: PartitionRates = awsRates,
): Promise<HotAccountResult> {
  const { requestsPerSecond, environments, rateLimit, minutes } = plan;
  const createLead = occupied(product["create-lead"], (environments / requestsPerSecond) * 1000);
  const service = startService(
    { product: { ...product, "create-lead": createLead }, rates, seed, environment: rateLimitOf(rateLimit) },
    () => {},
  );
  const arrivals = new Arrivals(service.clock, seeded(seed + 1));
  const alone = new Creates(service, neighbour);
  arrivals.start(neighbourRate, alone.send);
  await service.clock.runUntil(service.clock.now + minute);
  arrivals.stop();
  const [loud, beside] = [new Creates(service, hot), new Creates(service, neighbour)];
  arrivals.start(requestsPerSecond, loud.send);
  arrivals.start(neighbourRate, beside.send);
  await service.clock.runUntil(service.clock.now + minutes * minute);
  arrivals.stop();
  await service.clock.runUntil(service.clock.now + minute / 2);
  const responses = loud.responses();
  const { rate_limited: refused = 0 } = responses.statuses;
  return {
    ...{ plan, hot: responses, alone: alone.responses(), beside: beside.responses() },
    started: service.pools["create-lead"].started,
    throttled: service.table.throttled,
    granted: responses.requests - refused,
  };
}

/**
 * A function whose environments stay occupied by each request of the hot account, as by a slow one: so many of them serve
 * it that each knows little of the others.
 */
function occupied(load: Load, milliseconds: number): Load {
  return (host, globals) => {
    const { handler } = load(host, globals);
    const setTimeout = globals.setTimeout as (run: () => void, milliseconds: number) => void;
    return {
      async handler(event, context) {
        const isHot = JSON.stringify(event).includes(`"accountId":"${hot}"`);
        const [response] = await Promise.all([
          handler(event, context),
          isHot && new Promise<void>((resolve) => setTimeout(resolve, milliseconds)),
        ]);
        return response;
      },
    };
  };
}

/** The requests of an account. */
class Creates {
  readonly #service: Service;
  readonly #event: object;
  readonly #statuses: Record<string, number> = {};
  readonly #times: number[] = [];

  constructor(service: Service, account: string) {
    this.#service = service;
    this.#event = routeEvent("create-lead", { account, body: { name: "Ada" } });
  }

  send = async (): Promise<void> => {
    const { clock, pools } = this.#service;
    const start = clock.now;
    const { result } = await pools["create-lead"].invoke({ ...this.#event });
    const { statusCode, body } = result as { readonly statusCode: number; readonly body: string };
    const { code = statusCode }: { readonly code?: string | number } = JSON.parse(body);
    this.#statuses[code] = (this.#statuses[code] ?? 0) + 1;
    this.#times.push(clock.now - start);
  };

  responses(): Responses {
    const times = this.#times;
    return {
      ...{ requests: times.length, statuses: this.#statuses },
      ...{ p50: quantile(times, 0.5), p99: quantile(times, 0.99), longest: largest(times) },
    };
  }
}
