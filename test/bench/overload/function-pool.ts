import type { Concurrency } from "./concurrency.ts";
import type { Load } from "./product.ts";
import type { Host } from "./sdk/host.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What an environment's requests are recorded in, while it serves one. */
export interface Served {
  /** The attempts of table calls, throttled ones included. */
  calls: number;
  readUnits: number;
}

interface Environment {
  readonly handler: ReturnType<Load>["handler"];
  served: Served;
}

interface PoolOptions {
  readonly clock: VirtualClock;
  readonly load: Load;
  readonly globals: Readonly<Record<string, unknown>>;
  /** The host of an environment, which records in what it serves at the time of a call. */
  readonly createHost: (served: () => Served) => Host;
  /** In milliseconds. */
  readonly timeout: number;
  /** What the environments of all functions share; undefined without a limit. */
  readonly concurrency?: Concurrency | undefined;
}

/** How long an environment takes to start, in milliseconds: an assumption. */
const startTime = 250;

/**
 * The execution environments of a function. Each serves one request at a time; when all are busy, another is started, and
 * the one that was used last is used again first.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
 */
export class FunctionPool {
  /** How many environments were started. */
  started = 0;
  readonly #options: PoolOptions;
  readonly #idle: Environment[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Serves a request. @returns the handler's result and the table calls that it made */
  async invoke(event: object): Promise<{ readonly result: unknown; readonly served: Served }> {
    const { clock, timeout, concurrency } = this.#options;
    if (concurrency) await concurrency.enter();
    const environment = this.#idle.pop() ?? (await this.#start());
    const served: Served = { calls: 0, readUnits: 0 };
    environment.served = served;
    const end = clock.now + timeout;
    const context = { awsRequestId: "request", getRemainingTimeInMillis: () => end - clock.now };
    try {
      return { result: await environment.handler(event, context), served };
    } finally {
      this.#idle.push(environment);
      concurrency?.leave();
    }
  }

  async #start(): Promise<Environment> {
    const { clock, load, globals, createHost } = this.#options;
    this.started++;
    await clock.wait(startTime);
    const environment: Environment = {
      handler: load(
        createHost(() => environment.served),
        globals,
      ).handler,
      served: { calls: 0, readUnits: 0 },
    };
    return environment;
  }
}
