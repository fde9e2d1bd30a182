import { setTimeout } from "node:timers/promises";
import { errorCode, errorMessage } from "../../../lib/errors.ts";
import type { Exchange } from "./account.ts";
import type { Connections } from "./connections.ts";
import { isRateLimited } from "./responses.ts";
import { Tally } from "./tally.ts";

/** A source of requests and the connections to send them on. */
export interface Traffic {
  readonly next: () => Exchange;
  readonly connections: Connections;
}

/** Keeps `parallel` requests in progress while `more` returns true. */
export async function saturate(
  { next, connections }: Traffic,
  parallel: number,
  more: () => boolean,
  tally = new Tally(),
): Promise<Tally> {
  const sendWhileMore = async () => {
    while (more()) await exchange(next(), connections, tally, performance.now());
  };
  await Promise.all(Array.from({ length: parallel }, sendWhileMore));
  return tally;
}

/**
 * Sends requests at a steady rate, whether or not earlier ones have responses. Times count from when a request was
 * due, so that a stalled service is charged for all requests that waited.
 */
export async function pace(
  { next, connections }: Traffic,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Tally> {
  const tally = new Tally();
  const start = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = start + (n * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await setTimeout(early);
    sent.push(exchange(next(), connections, tally, due));
  }
  await Promise.all(sent);
  return tally;
}

async function exchange(
  { kind, request, check }: Exchange,
  connections: Connections,
  tally: Tally,
  due: number,
): Promise<void> {
  try {
    const response = await connections.send(request);
    const took = performance.now() - due;
    if (isRateLimited(response)) return tally.limited();
    const fault = check(response);
    if (fault === undefined) tally.succeeded(kind, took);
    else tally.failed(`${kind}: ${fault}`);
  } catch (error) {
    tally.failed(`${kind}: ${errorCode(error) ?? errorMessage(error)}`);
  }
}

/** The service under as many concurrent requests as there are connections. */
export interface Level {
  readonly connections: number;
  readonly seconds: number;
  readonly tally: Tally;
}

/** Loads the service for this many seconds at each number of connections. */
export async function ramp(traffic: Traffic, levels: readonly number[], seconds: number): Promise<Level[]> {
  const results: Level[] = [];
  for (const connections of levels) {
    const start = performance.now();
    const tally = await saturate(traffic, connections, () => performance.now() - start < seconds * 1000);
    results.push({ connections, seconds: (performance.now() - start) / 1000, tally });
  }
  return results;
}
