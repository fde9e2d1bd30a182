import { number } from "../report.ts";

/** List prices in dollars, for a million or a GB: docs/deploying.md names their sources. */
const prices = {
  gateway: 1,
  call: 0.2,
  /** The price of 1 GB of memory for a second. */
  second: 13.33,
  /** The log of a million requests: 2 KB each. */
  log: 0.5 * 1.91,
  write: 0.625,
  read: 0.125,
  /** The price of an event with a call of `publish-events` that takes 20 ms. */
  event: 1 + 0.2 + 13.33 * 0.02,
  /** The price of transfer to the internet. */
  transfer: 0.09,
};

/** The rate limit's write units for each request, at 6,000 requests a minute on 20 environments. */
const permitUnits = 0.12;

interface Units {
  readonly R: number;
  readonly W: number;
}

/**
 * The cost of a million requests, each with some calls of functions.
 *
 * @param seconds how long the calls take together
 * @param kilobytes of the response, of which API Gateway counts each 512 as a request
 */
export const price = ({ R, W }: Units, events: number, calls: number, seconds: number, kilobytes: number) =>
  (1 + Math.floor(kilobytes / 512)) * prices.gateway +
  kilobytes * prices.transfer +
  calls * prices.call +
  seconds * prices.second +
  prices.log +
  W * prices.write +
  R * prices.read +
  events * prices.event;

/** A row of the table of costs of a million requests: their units, including the units of counting, and their events. */
export function costRow(Request: string, units: Units, events = 0) {
  const [W, R] = [units.W + permitUnits, units.R];
  const parts = [
    prices.write * W,
    prices.read * R,
    prices.event * events,
    price({ W, R }, events, 1, 0.02, 0),
  ];
  const [Writes = "", Reads = "", Events = "", total] = parts.map((dollars) => number(dollars, 2, 2));
  return { Request, W, R, E: events, Writes, Reads, Events, "**A million**": `**${total}**` };
}

/** A list of the benchmark: the read units of its first page, and of its most expensive page. */
interface List {
  readonly list: string;
  readonly first: number;
  readonly worst: number;
}

/** The rows of the table for pages. */
export function pageCosts(leads: number, lists: readonly List[]) {
  const find = (name: string) => lists.findLast(({ list }) => list === name);
  const row = (request: string, R = Number.NaN) => costRow(request, { R, W: 0 });
  const any = `Any page of ${number(leads)} leads`;
  return [
    row("First page of leads", find("none")?.first),
    row(`${any}, unfiltered`, find("none")?.worst),
    row(`${any}, \`status=new\``, find("new")?.worst),
    row("Any page of 20 conversations with a filter", find("active")?.worst),
    row("First page of conversations by activity", find("all, by activity")?.first),
    row(
      "Leads that were changed, or conversations with a message, since a moment ago",
      find("with a message since a moment ago")?.first,
    ),
  ];
}
