import { setTimeout } from "node:timers/promises";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { ResponseBodies } from "../support/call.ts";
import type { TestRequest } from "../support/events.ts";
import type { Ledger } from "./ledger.ts";

export type Call = typeof import("../support/call.ts")["call"];

/** How a client of the API retries. */
export interface RetryPolicy {
  /** How many requests it sends at the most. */
  readonly tries: number;
  /** How long it waits for a response, in milliseconds. */
  readonly timeout: number;
}

export interface Success<Name extends RouteName> {
  readonly body: ResponseBodies[Name];
  readonly replayed: boolean;
  /** When the request that succeeded was sent and completed, in milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

/** A client that retries requests that are rejected or time out, as the documentation recommends. */
export class Client {
  readonly #call: Call;
  readonly #ledger: Ledger;

  constructor(call: Call, ledger: Ledger) {
    this.#call = call;
    this.#ledger = ledger;
  }

  /** @returns undefined when no request succeeded */
  async request<Name extends RouteName>(
    name: Name,
    request: TestRequest,
    { tries, timeout }: RetryPolicy,
  ): Promise<Success<Name> | undefined> {
    for (let tried = 0; tried < tries; tried++) {
      const start = Date.now();
      const response = await this.#send(name, request, timeout);
      if (!response) continue;
      if (response.status === routes[name].success) {
        const replayed = response.headers["idempotency-replayed"] === "true";
        return { body: response.body, replayed, start, end: Date.now() };
      }
      const seconds = secondsToWait(response);
      if (seconds === undefined) return this.#check(name, `returned ${JSON.stringify(response)}`);
      await setTimeout(seconds * 1000);
    }
    return undefined;
  }

  /** Sends a request with the Idempotency-Key of another body. */
  async reuse(name: RouteName, request: TestRequest, retryPolicy: RetryPolicy): Promise<void> {
    const response = await this.#send(name, request, retryPolicy.timeout);
    if (!response || secondsToWait(response) !== undefined) return;
    const rejected = response.status === 422 && response.problem.code === "idempotency_key_reused";
    this.#check(name, rejected ? undefined : `accepted another body for a used key: ${response.status}`);
  }

  /** @returns undefined after the timeout; the call continues without its client */
  async #send<Name extends RouteName>(name: Name, request: TestRequest, timeout: number) {
    const call = this.#ledger.track(this.#call(name, request));
    this.#ledger.requests += 1;
    const timer = new AbortController();
    const late = setTimeout(timeout, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      return await Promise.race([call, late]);
    } finally {
      timer.abort();
    }
  }

  #check(name: RouteName, fault: string | undefined): undefined {
    if (fault !== undefined) this.#ledger.violations.push(`${name}: ${fault}`);
  }
}

/** The `Retry-After` of a documented 429 or 503, in seconds; undefined for every other response. */
function secondsToWait({ status, headers, problem }: Awaited<ReturnType<Call>>): number | undefined {
  const documented =
    (status === 503 && problem.code === "busy") || (status === 429 && typeof problem.code === "string");
  const seconds = String(headers["retry-after"]);
  return documented && problem.status === status && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}
