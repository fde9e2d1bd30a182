import { cpus, totalmem } from "node:os";
import { number, table } from "../markdown.ts";
import { checksOf, holds, slowdown } from "./checks.ts";
import type { Endurance } from "./endurance.ts";
import { type Growth, heapGrowth, ratio } from "./heap-growth.ts";
import { greedyConnections, type Round } from "./neighbours.ts";
import type { Level } from "./ramp.ts";
import type { Results } from "./run.ts";
import type { Latencies } from "./tally.ts";

/** When and how a run was made. */
export interface Circumstances {
  readonly at: Date;
  readonly seconds: number;
  /** The machine's load averages of a minute, before and after. */
  readonly load: readonly [number, number];
}

/** The page of the documentation that a run makes. */
export const report = (results: Results, circumstances: Circumstances): string =>
  [
    "# The service under load",
    sourceOrChannel(circumstances),
    "## Promises",
    checks(results),
    "## Growing load",
    `Eight accounts, two reads to a write, each connection sends when it was answered. A function has at most ten environments, as many as AWS gives a new account: past that, requests wait.`,
    levels(results.levels),
    "## The long run",
    ...longRun(results.endurance),
    "## A greedy neighbour",
    ...greedyNeighbour(results),
  ].join("\n\n");

const sourceOrChannel = ({ at, seconds, load }: Circumstances) => {
  const [processor] = cpus();
  const machine = `${cpus().length} × ${processor?.model ?? "unknown processor"}, ${number(totalmem() / 2 ** 30, 0)} GB`;
  return `Made by \`npm run bench:load\` (${at.toISOString().slice(0, 10)}, Node ${process.version}) in ${number(seconds, 0)} s, the load average ${load.map((value) => number(value)).join(" before and ")} after. The service runs as \`npm start\` runs it: the bundles that are deployed, the permission proxy, the stream and the embedded DynamoDB, its data in a fresh directory. It shares the machine (${machine}) with the client, so times and throughput are its own figures, not those of AWS; only ratios within one run say something of the code. Every answer was checked: the length of each page, its order, its filter and its total, each new record against what was sent, each repeated request against its first answer.`;
};

const checks = (results: Results) =>
  table(
    ["", "at most", "measured", ""],
    checksOf(results).map((check) => [
      check.what,
      number(check.most, 2),
      number(check.measured, 3),
      holds(check) ? "holds" : "**does not hold**",
    ]),
  );

const times = ({ p50, p99, worst }: Latencies) => [p50, p99, worst].map((value) => number(value));

const errorsOf = (errors: ReadonlyMap<string, number>) =>
  [...errors].map(([error, count]) => `${number(count)} × ${error}`).join("; ") || "none";

const levels = (results: readonly Level[]) =>
  table(
    ["connections", "requests a second", "p50 (ms)", "p99", "worst", "errors"],
    results.map(({ connections, seconds, tally }) => [
      connections,
      number(tally.all().count / seconds, 0),
      ...times(tally.all()),
      errorsOf(tally.errors),
    ]),
  );

const longRun = (endurance: Endurance) => [
  `${number(endurance.requests)} requests of the same mix over ${endurance.connections} connections. Errors: ${errorsOf(endurance.tally.errors)}.`,
  table(
    ["", "answers", "p50 (ms)", "p99", "worst"],
    [...endurance.tally.byKind(), endurance.tally.all()].map((kind) => [
      kind.kind,
      number(kind.count),
      ...times(kind),
    ]),
  ),
  `Memory is what V8 has in use after a forced collection, measured ${endurance.samples.length} times while nothing was served. The second tenth is the first in which all code is warm.`,
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

const greedyNeighbour = ({ rounds, plan: { neighbours, rateLimit } }: Results) => [
  `Each account may send ${rateLimit.requests} requests in ${rateLimit.seconds} s. The quiet one sends ${neighbours.quietRate} a second, first alone for ${neighbours.seconds} s, then as long beside the greedy one, which sends ${neighbours.greedyRate} a second, ${number((neighbours.greedyRate * rateLimit.seconds) / rateLimit.requests)} times its limit, over ${greedyConnections} connections. A time counts from when the request was due.`,
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
      "greedy: answered",
      "refused",
      "processors idle",
    ],
    rounds.map((round, n) => [n + 1, ...roundOf(round)]),
  ),
];

const roundOf = (round: Round) => [
  ...times(round.alone.all()),
  ...times(round.beside.all()),
  number(slowdown(round), 2),
  number(round.greedy.all().count),
  number(round.greedy.refused),
  `${number(100 * round.idle, 0)}%`,
];
