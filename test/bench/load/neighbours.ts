import type { Exchange } from "./account.ts";
import { type Connections, openConnections } from "./connections.ts";
import { watchIdleTime } from "./idle-time.ts";
import type { Tally } from "./tally.ts";
import { pace } from "./traffic.ts";

/** What an account asks for. */
export interface Neighbour {
  /** Fills its lists. */
  readonly fill: () => Exchange;
  readonly mix: () => Exchange;
}

export interface NeighbourSettings {
  /** What the quiet account sends, within its limit; requests a second. */
  readonly quietRate: number;
  /** What the greedy account sends, over its limit; requests a second. */
  readonly greedyRate: number;
  /** Of each half of a round. */
  readonly seconds: number;
  readonly rounds: number;
}

/** The quiet account alone, then beside the greedy one. */
export interface Round {
  readonly alone: Tally;
  readonly beside: Tally;
  readonly greedy: Tally;
  /** The share of the machine's processor time that nobody used while both sent. */
  readonly idle: number;
}

/** The greedy client cannot have more requests under way. */
export const greedyConnections = 4;

/** More than the quiet client needs: each of its requests is sent when it is due. */
const quietConnections = 32;

/** What comes before the rounds, in seconds: it fills lists, and starts environments and warms their code. */
const preparation = 5;

/** Measures what an account that goes over its rate limit does to one that does not. */
export async function neighbours(
  url: string,
  { quiet, greedy }: { readonly quiet: Neighbour; readonly greedy: Neighbour },
  { quietRate, greedyRate, seconds, rounds }: NeighbourSettings,
): Promise<Round[]> {
  const ofQuiet = openConnections(url, quietConnections);
  const ofGreedy = openConnections(url, greedyConnections);
  const round = async (seconds: number): Promise<Round> => {
    const send = (next: () => Exchange, connections: Connections, perSecond: number) =>
      pace({ next, connections }, { perSecond, seconds });
    const alone = await send(quiet.mix, ofQuiet, quietRate);
    const idle = watchIdleTime();
    const [beside, tally] = await Promise.all([
      send(quiet.mix, ofQuiet, quietRate),
      send(greedy.mix, ofGreedy, greedyRate),
    ]);
    return { alone, beside, greedy: tally, idle: idle() };
  };
  for (const { fill } of [quiet, greedy]) {
    await pace({ next: fill, connections: ofQuiet }, { perSecond: quietRate, seconds: preparation });
  }
  await round(preparation);
  const results: Round[] = [];
  for (let n = 0; n < rounds; n++) results.push(await round(seconds));
  ofQuiet.close();
  ofGreedy.close();
  return results;
}
