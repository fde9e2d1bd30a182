import { percentile } from "../../support/statistics.ts";
import { number, table } from "../markdown.ts";
import type { Load } from "./measure.ts";

/** What was measured of a function. */
export interface Result {
  readonly name: string;
  /** The size of its bundle, in bytes. */
  readonly bytes: number;
  readonly loads: readonly Load[];
}

const median = (values: readonly number[]) => percentile(values, 0.5);

/** A median, and the middle half. */
const spread = (values: readonly number[]) =>
  `${number(median(values))} (${number(percentile(values, 0.25))}–${number(percentile(values, 0.75))})`;

/** The page of the documentation. */
export function report(results: readonly Result[], rounds: number, date: string): string {
  const times = (name: string, kind: keyof Load) =>
    results.filter((result) => result.name === name).flatMap(({ loads }) => loads.map((load) => load[kind]));
  // The machine's speed changes during a run: each load is compared with that of the bare SDK in the same round.
  const ratio = (name: string, kind: keyof Load, net: number) => {
    const bare = times("bare SDK", kind);
    const ratios = times(name, kind).map((time, n) => (time - net) / ((bare[n] ?? Number.NaN) - net));
    return number(median(ratios), 2);
  };
  const net = median(times("empty", "processor"));
  const rows = results.map(({ name, bytes }) => [
    name,
    spread(times(name, "processor")),
    name === "empty" ? "–" : ratio(name, "processor", net),
    spread(times(name, "wall")),
    ratio(name, "wall", 0),
    number(bytes),
  ]);
  const head = [
    "",
    "processor (ms)",
    "× bare SDK, both less empty",
    "wall (ms)",
    "× bare SDK",
    "bundle (bytes)",
  ];
  return `# Cold starts

Measured by \`npm run bench:start\` (${date}, Node ${process.version}): loading the deployed bundle of each function, in ${rounds} new processes each, which take turns; medians, and in parentheses the middle half. The ratios are medians of each round's ratio. Compare the times of a table with each other, not with those of another machine or of Lambda.

- **empty** is a handler that does nothing.
- **bare SDK** is a handler that reads and writes items, bundled in the same way but with the whole SDK.

${table(head, rows)}
`;
}
