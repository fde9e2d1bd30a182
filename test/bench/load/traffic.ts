import { setTimeout } from "node:timers/promises";
import { errorCode, errorMessage } from "../../../lib/errors.ts";
import type { Exchange } from "./account.ts";
import type { Connections } from "./connections.ts";
import { isRefusal } from "./responses.ts";
import { Tally } from "./tally.ts";

/** Where requests come from and where they go. */
export interface Traffic {
  readonly next: () => Exchange;
  readonly connections: Connections;
}

/** Sends requests for as long as `more` says so, `parallel` at a time: each when one before it is answered. */
export async function saturate(
  { next, connections }: Traffic,
  parallel: number,
  more: () => boolean,
  tally = new Tally(),
): Promise<Tally> {
  const sendOn = async () => {
    while (more()) await exchange(next(), connections, tally, performance.now());
  };
  await Promise.all(Array.from({ length: parallel }, sendOn));
  return tally;
}

/**
 * Sends requests at a steady rate, whether those before are answered or not. An answer's time counts from when its
 * request was due, so that a service that stalls is charged for all that waited.
 */
export async function pace(
  { next, connections }: Traffic,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Tally> {
  const tally = new Tally();
  const began = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = began + (n * 1000) / perSecond;
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
    if (isRefusal(response)) return tally.refuse();
    const fault = check(response);
    if (fault === undefined) tally.answered(kind, took);
    else tally.failed(`${kind}: ${fault}`);
  } catch (error) {
    tally.failed(`${kind}: ${errorCode(error) ?? errorMessage(error)}`);
  }
}
