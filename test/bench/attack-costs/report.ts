import { readConfig } from "../../../lib/config/config.ts";
import { number, table } from "../markdown.ts";
import type { RequestCost } from "./requests.ts";

/** In US dollars for a million: docs/deploying.md has the sources. */
const prices = {
  gateway: 1,
  call: 0.2,
  gigabyteSecond: 13.33,
  trace: 5,
  write: 0.625,
  read: 0.125,
  event: 1.67,
} as const;

/** In US dollars for a gigabyte. */
const gigabyte = { logs: 0.5, transfer: 0.09, stored: 0.25 } as const;

/** What the gateway counts as one request, in bytes of bodies, and the most that it accepts. */
const gatewayRequest = 512 * 1024;
const largestBody = 10_000_000;

/** Assumptions: seconds of a function with 1 GB of memory, and bytes of logs. */
const seconds = { authorizer: 0.01, route: 0.05 } as const;
const logged = 2000;

/** The share of requests that X-Ray traces by default. */
const traced = 0.05;

const secondsOfDay = 86_400;

const lambda = (time: number) => prices.call + prices.gigabyteSecond * time + prices.trace * traced;

/** The cost of a million requests, in dollars. */
const million = ({ write, read, sent, bytes, events }: RequestCost, time: number) =>
  prices.gateway * Math.max(1, Math.ceil((sent + bytes) / gatewayRequest)) +
  lambda(time) +
  prices.write * write +
  prices.read * read +
  prices.event * events +
  gigabyte.transfer * (bytes / 1000) +
  gigabyte.logs * (logged / 1000);

/** The page of the documentation. */
export function report([unknownKey, ...requests]: readonly RequestCost[], date: Date): string {
  if (!unknownKey) throw new Error("Nothing was measured.");
  const [prod, dev] = [readConfig({ stage: "prod" }), readConfig({ stage: "dev" })];
  const perSecond = prod.rateLimitRequests / prod.rateLimitSeconds;
  const day = (dollars: number, rate: number) => number((dollars * rate * secondsOfDay) / 1e6, 0);
  const unknown = [unknownKey, { ...unknownKey, sent: largestBody }].map((request) => ({
    body: `${number(request.sent / 1e6)} MB`,
    dollars: million(request, seconds.authorizer),
  }));
  return `# What an attack costs

Measured by \`npm run bench:attack-costs\` (${date.toISOString().slice(0, 10)}) on a table in memory that counts units as DynamoDB does, at the prices of [deploying.md](../deploying.md#what-a-million-requests-cost) and ${gigabyte.transfer} dollars for a gigabyte to the internet. A function takes ${seconds.route * 1000} ms of 1 GB for a request, the authorizer ${seconds.authorizer * 1000} ms: assumptions. For these times, dollars are upper bounds, without free tiers and discounts. The gateway counts each 512 KB of a body as a request.

## Without a key

Each request has another key of the right form, so the authorizer's cache is of no use. Requests beyond the throttle of the stage cost nothing.

${table(
  ["stage", "throttle, requests/s", "body", "R", "dollars a million", "dollars a day"],
  Object.entries({ dev, prod }).flatMap(([stage, { throttleRate }]) =>
    unknown.map(({ body, dollars }) => [
      ...[stage, number(throttleRate), body, number(unknownKey.read), number(dollars, 2)],
      day(dollars, throttleRate),
    ]),
  ),
)}

## With a key

One account at its rate limit, ${number(prod.rateLimitRequests)} requests in ${prod.rateLimitSeconds} seconds, with the largest requests that the schemas allow. W and R are write and read units; counting adds less than a write unit to each lead and conversation. Several accounts multiply it, up to the throttle of the stage. 1,000 write units or 3,000 read units a second are the most that one partition key takes: the rest of its requests return 503, so an account that always reads the same list costs less than this.

${table(
  ["request", "W", "R", "response (KB)", "dollars a million", "dollars a day"],
  requests.map((request) => {
    const dollars = million(request, seconds.route);
    return [
      ...[request.what, number(request.write), number(request.read), number(request.bytes / 1000)],
      ...[number(dollars, 2), day(dollars, perSecond)],
    ];
  }),
)}

${requests
  .filter(({ stored }) => stored)
  .map(({ what, stored = 0 }) => {
    const gigabytes = (stored * perSecond * secondsOfDay) / 1e9;
    return `${what}: a day of them stores ${number(gigabytes, 0)} GB, for ${number(gigabyte.stored * gigabytes, 0)} dollars a month.`;
  })
  .join("\n")}
`;
}
