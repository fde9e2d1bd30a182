import { setTimeout } from "node:timers/promises";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { Answers } from "../support/call.ts";
import type { TestRequest } from "../support/events.ts";
import type { Ledger } from "./ledger.ts";

export type Call = typeof import("../support/call.ts")["call"];

/** How a client of the API asks. */
export interface Patience {
  /** How often it asks at the most. */
  readonly tries: number;
  /** How long it waits for an answer, in milliseconds. */
  readonly timeout: number;
}

export interface Success<Name extends RouteName> {
  readonly body: Answers[Name];
  readonly replayed: boolean;
  /** When the answered try began and ended, in milliseconds since the epoch. */
  readonly began: number;
  readonly ended: number;
}

/** A client that asks again when it is turned away or hears nothing, as the documentation says it should. */
export class Client {
  readonly #call: Call;
  readonly #ledger: Ledger;

  constructor(call: Call, ledger: Ledger) {
    this.#call = call;
    this.#ledger = ledger;
  }

  /** @returns undefined when it gave up */
  async request<Name extends RouteName>(
    name: Name,
    request: TestRequest,
    { tries, timeout }: Patience,
  ): Promise<Success<Name> | undefined> {
    for (let tried = 0; tried < tries; tried++) {
      const began = Date.now();
      const response = await this.#ask(name, request, timeout);
      if (!response) continue;
      if (response.status === routes[name].success) {
        const replayed = response.headers["idempotency-replayed"] === "true";
        return { body: response.body, replayed, began, ended: Date.now() };
      }
      const seconds = secondsToWait(response);
      if (seconds === undefined) return this.#check(name, `answered ${JSON.stringify(response)}`);
      await setTimeout(seconds * 1000);
    }
    return undefined;
  }

  /** Sends a request whose key another body has had. */
  async reuse(name: RouteName, request: TestRequest, patience: Patience): Promise<void> {
    const response = await this.#ask(name, request, patience.timeout);
    if (!response || secondsToWait(response) !== undefined) return;
    const refused = response.status === 422 && response.problem.code === "idempotency_key_reused";
    this.#check(name, refused ? undefined : `took another body for a known key: ${response.status}`);
  }

  /** @returns undefined when there was no answer in time; the call goes on without its client */
  async #ask<Name extends RouteName>(name: Name, request: TestRequest, timeout: number) {
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
    if (fault !== undefined) this.#ledger.broken.push(`${name}: ${fault}`);
  }
}

/** The pause that a refusal as documented asks for, in seconds; undefined for every other answer. */
function secondsToWait({ status, headers, problem }: Awaited<ReturnType<Call>>): number | undefined {
  const documented =
    (status === 503 && problem.code === "busy") || (status === 429 && typeof problem.code === "string");
  const seconds = String(headers["retry-after"]);
  return documented && problem.status === status && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}
