import { cpus, totalmem } from "node:os";
import { number, table } from "../markdown.ts";
import { checkLimits, holds, slowdown } from "./checks.ts";
import type { Endurance } from "./endurance.ts";
import { type Growth, heapGrowth, ratio } from "./heap-growth.ts";
import { greedyConnections, type Round } from "./neighbours.ts";
import { plan } from "./plan.ts";
import type { Results } from "./run.ts";
import type { Latencies } from "./tally.ts";
import type { Level } from "./traffic.ts";

/** When and under which conditions a run took place; `load` has the machine's one-minute averages before and after. */
interface Circumstances {
  readonly at: Date;
  readonly seconds: number;
  readonly load: readonly number[];
}

/** The page of the documentation that a run writes. */
export const report = (results: Results, circumstances: Circumstances): string =>
  [
    "# The service under load",
    describeRun(circumstances),
    "## Limits",
    checks(results),
    "## Growing load",
    `Eight accounts send two reads for each write; each connection sends its next request after a response. A function has at most ten environments, as in a new AWS account; further requests wait.`,
    levels(results.levels),
    "## The long run",
    ...longRun(results.endurance),
    "## A greedy neighbour",
    ...greedyNeighbour(results),
  ].join("\n\n");

const describeRun = ({ at, seconds, load }: Circumstances) => {
  const [processor] = cpus();
  const machine = `${cpus().length} × ${processor?.model ?? "unknown processor"}, ${number(totalmem() / 2 ** 30, 0)} GB`;
  return `Measured by \`npm run bench:load\` (${at.toISOString().slice(0, 10)}, Node ${process.version}) in ${number(seconds, 0)} s; the load average was ${load.map((value) => number(value)).join(" before and ")} after. The service runs as with \`npm start\`: the deployed bundles, the permission proxy, the stream and the embedded DynamoDB, with a new data directory. It shares the machine (${machine}) with the client, so times and throughput are not those of AWS; compare only ratios within one run. Every response was checked: the length, order, filter and total of each page, each new record against the request, each repeated request against its first response.`;
};

const checks = (results: Results) =>
  table(
    ["", "at most", "measured", ""],
    checkLimits(results).map((check) => [
      check.what,
      number(check.most, 2),
      number(check.measured, 3),
      holds(check) ? "holds" : "**does not hold**",
    ]),
  );

const times = ({ p50, p99, worst }: Latencies) => [p50, p99, worst].map((value) => number(value));

const describeErrors = (errors: ReadonlyMap<string, number>) =>
  [...errors].map(([error, count]) => `${number(count)} × ${error}`).join("; ") || "none";

const levels = (results: readonly Level[]) =>
  table(
    ["connections", "requests a second", "p50 (ms)", "p99", "worst", "errors"],
    results.map(({ connections, seconds, tally }) => [
      connections,
      number(tally.all().count / seconds, 0),
      ...times(tally.all()),
      describeErrors(tally.errors),
    ]),
  );

const longRun = (endurance: Endurance) => [
  `${number(endurance.requests)} requests of the same mix over ${endurance.connections} connections. Errors: ${describeErrors(endurance.tally.errors)}.`,
  table(
    ["", "responses", "p50 (ms)", "p99", "worst"],
    [...endurance.tally.byKind(), endurance.tally.all()].map((kind) => [
      kind.kind,
      number(kind.count),
      ...times(kind),
    ]),
  ),
  `Memory is the heap that V8 uses after a forced collection, measured ${endurance.samples.length} times while the service was idle. The second tenth is the first in which all code is warm.`,
  table(
    [
      "MB",
      "environments",
      "second tenth",
      "last tenth",
      "ratio",
      "largest: second tenth",
      "last tenth",
      "ratio",
    ],
    heapGrowth(endurance).map(({ name, environments, together, largest }) => [
      name,
      environments,
      ...memory(together),
      ...memory(largest),
    ]),
  ),
];

const memory = (growth: Growth) => [
  ...[growth.early, growth.late].map((bytes) => number(bytes / 1e6, 2)),
  number(ratio(growth), 3),
];

const { neighbours, rateLimit } = plan;

const greedyNeighbour = ({ rounds }: Results) => [
  `Each account may send ${rateLimit.requests} requests in ${rateLimit.seconds} s. The quiet account sends ${neighbours.quietRate} a second, first alone for ${neighbours.seconds} s, then for as long beside the greedy one. The greedy account sends ${neighbours.greedyRate} a second, ${number((neighbours.greedyRate * rateLimit.seconds) / rateLimit.requests)} times its limit, over ${greedyConnections} connections. Times count from when a request was due.`,
  table(
    [
      "round",
      "quiet alone: p50 (ms)",
      "p99",
      "worst",
      "beside: p50",
      "p99",
      "worst",
      "p99 ratio",
      "greedy: accepted",
      "429s",
      "processors idle",
    ],
    rounds.map((round, n) => [n + 1, ...toRow(round)]),
  ),
];

const toRow = (round: Round) => [
  ...times(round.alone.all()),
  ...times(round.beside.all()),
  number(slowdown(round), 2),
  number(round.greedy.all().count),
  number(round.greedy.rateLimited),
  `${number(100 * round.idle, 0)}%`,
];
