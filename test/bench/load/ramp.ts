import type { Tally } from "./tally.ts";
import { saturate, type Traffic } from "./traffic.ts";

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
