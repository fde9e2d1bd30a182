import type { Population } from "../population.ts";
import { catchUp } from "../sizes/catch-up.ts";
import { allLists } from "../sizes/filters.ts";
import { sourcePicker } from "../sources/distribution.ts";
import { verifyLists } from "../verify.ts";
import { importBackdated } from "./backdated.ts";
import { joinConversation, startConversations } from "./messages.ts";
import type { Writing } from "./write-cost.ts";
import { alone, burst, changeStatus, create } from "./writing.ts";

/** Creates leads, sends messages and changes statuses in an account that has been counted. */
export async function writeAccount(population: Population): Promise<Writing[]> {
  await catchUp(population);
  const lead = () => create(population);
  const leads = [
    await alone({ what: "a lead alone", kind: "lone", count: 128 }, lead),
    await burst({ what: "leads, 100 at once", kind: "burst", count: 100 }, 100, lead),
    await burst({ what: "leads, 1,000 in 5 s", kind: "burst", count: 1000 }, 200, lead),
    await alone({ what: "a status change alone, anywhere", kind: "scattered", count: 100 }, () =>
      changeStatus(population),
    ),
  ];
  await verifyLists(allLists(population));
  return [...leads, ...(await sendMessages(population))];
}

/** Sends messages that start conversations, which are counted, and messages that join one. */
async function sendMessages(population: Population): Promise<Writing[]> {
  const start = startConversations(population);
  const starts = (what: string) => `${what}, each starts a conversation`;
  const join = await joinConversation(population);
  const joins = (what: string) => `${what}, all join one conversation`;
  return [
    await alone({ what: "a message alone that starts a conversation", kind: "lone", count: 128 }, start),
    await burst({ what: starts("messages, 100 at once"), kind: "burst", count: 100 }, 100, start),
    await burst({ what: starts("messages, 1,000 in 5 s"), kind: "burst", count: 1000 }, 200, start),
    await alone({ what: "a message alone that joins a conversation", kind: "uncounted", count: 20 }, join),
    await burst({ what: joins("messages, 100 at once"), kind: "uncounted", count: 100 }, 100, join),
    await burst({ what: joins("messages, 1,000 in 5 s"), kind: "uncounted", count: 1000 }, 200, join),
  ];
}

/** Creates leads at a steady rate in an account that has been counted. */
export async function createSteadily(
  population: Population,
  sources: number,
  perSecond: number,
): Promise<Writing> {
  const source = sourcePicker({ sources, skewed: false });
  const what = `leads of ${sources} sources, ${perSecond} a second`;
  return burst({ what, kind: "steady", count: 4000, sources }, perSecond, () => create(population, source));
}

/** Imports back-dated leads between two of a counted account. */
export async function backdate(
  population: Population,
  count: number,
  options: Parameters<typeof importBackdated>[2],
): Promise<Writing> {
  await catchUp(population);
  const writing = await importBackdated(population, count, options);
  await verifyLists(allLists(population));
  return writing;
}
