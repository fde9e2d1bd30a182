import type { Request } from "./request.ts";
import type { Simulation } from "./simulation.ts";

/** For how long every list must be answered, in seconds. */
const quiet = 10;

/** How often the lists are examined, in seconds. */
const step = 5;

/**
 * Runs a simulation until every list of an account has been answered for ten seconds, and a condition holds.
 *
 * @param mostSeconds after which to give up
 * @returns after how many seconds that began; null if it did not
 */
export async function recover(
  simulation: Simulation,
  account: string,
  mostSeconds: number,
  condition = () => true,
): Promise<number | null> {
  const { requests } = simulation;
  const { clock } = simulation.service;
  const start = clock.now;
  const before = requests.length;
  let holdsSince: number | undefined;
  for (let ran = 0; ran < mostSeconds; ran += step) {
    await simulation.run(step);
    holdsSince = condition() ? (holdsSince ?? clock.now - step * 1000) : undefined;
    const lists = requests.slice(before).filter((request) => isListSince(request, account, start));
    const lastRefused = lists
      .filter(({ answer }) => answer !== "answered")
      .reduce((last, { start }) => Math.max(last, start), start);
    const isQuiet = clock.now - lastRefused >= quiet * 1000 && lists.some(({ start }) => start > lastRefused);
    if (isQuiet && holdsSince !== undefined)
      return Math.round((Math.max(lastRefused, holdsSince) - start) / 1000);
  }
  return null;
}

const isListSince = (request: Request, account: string, time: number) =>
  request.kind === "list" && request.account === account && request.start >= time;
