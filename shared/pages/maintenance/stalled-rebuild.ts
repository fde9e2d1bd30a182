import * as logEvents from "../../logging/log-events.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";

/** How long a rebuild that runs can be without progress, in milliseconds. */
const longestStep = 10 * 60_000;

/** Logs that the rebuild of a tree has stopped, which maintainers keep up to date until it is continued. */
export function warnIfStalled(
  { account, list }: CountedOwner,
  { progressAt = 0 }: Root,
  clock: number,
): void {
  if (clock - progressAt > longestStep)
    console.warn({ event: logEvents.rebuildStalled, account, list: list.type });
}
