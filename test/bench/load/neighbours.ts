import { cpus } from "node:os";
import type { Exchange } from "./account.ts";
import { type Connections, openConnections } from "./connections.ts";
import { plan } from "./plan.ts";
import { pace } from "./traffic.ts";

/** The requests of an account. */
interface Neighbour {
  /** Fills its lists. */
  readonly fill: () => Exchange;
  readonly mix: () => Exchange;
}

/** The quiet account alone, then beside the greedy one. */
export type Round = Awaited<ReturnType<typeof neighbours>>[number];

/** The most concurrent requests of the greedy client. */
export const greedyConnections = 4;

/** More than the quiet client needs, so that each of its requests is sent when it is due. */
const quietConnections = 32;

/** The time before the rounds in which lists are filled and environments start and warm up, in seconds. */
const preparation = 5;

/** Measures how an account over its rate limit affects one within its limit. */
export async function neighbours(
  url: string,
  { quiet, greedy }: { readonly quiet: Neighbour; readonly greedy: Neighbour },
) {
  const { quietRate, greedyRate, seconds, rounds } = plan.neighbours;
  const quietClient = openConnections(url, quietConnections);
  const greedyClient = openConnections(url, greedyConnections);
  const round = async (seconds: number) => {
    const send = (next: () => Exchange, connections: Connections, perSecond: number) =>
      pace({ next, connections }, { perSecond, seconds });
    const alone = await send(quiet.mix, quietClient, quietRate);
    const idle = watchIdleTime();
    const [beside, tally] = await Promise.all([
      send(quiet.mix, quietClient, quietRate),
      send(greedy.mix, greedyClient, greedyRate),
    ]);
    // And the share of the machine's processor time that was idle while both sent.
    return { alone, beside, greedy: tally, idle: idle() };
  };
  for (const { fill } of [quiet, greedy]) {
    await pace({ next: fill, connections: quietClient }, { perSecond: quietRate, seconds: preparation });
  }
  await round(preparation);
  const results: Awaited<ReturnType<typeof round>>[] = [];
  for (let n = 0; n < rounds; n++) results.push(await round(seconds));
  quietClient.close();
  greedyClient.close();
  return results;
}

/** Starts measuring the machine's processors. @returns a function for the share of time that they were idle since */
function watchIdleTime(): () => number {
  const before = processorTime();
  return () => {
    const { idle, all } = processorTime();
    return (idle - before.idle) / (all - before.all);
  };
}

function processorTime() {
  const times = cpus().map(({ times }) => times);
  const idle = times.reduce((sum, { idle }) => sum + idle, 0);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { idle, all };
}
