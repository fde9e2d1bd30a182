import { percentile } from "../../support/statistics.ts";
import { number, table } from "../markdown.ts";
import type { Cost, Start } from "./measure.ts";

/** What was measured of a function. */
export interface Result {
  readonly name: string;
  /** The size of its bundle, in bytes. */
  readonly bytes: number;
  readonly starts: readonly Start[];
}

const median = (values: readonly number[]) => percentile(values, 0.5);

/** A median, and the middle half. */
const spread = (values: readonly number[]) =>
  `${number(median(values))} (${number(percentile(values, 0.25))}–${number(percentile(values, 0.75))})`;

/** The page of the documentation. */
export function report(results: readonly Result[], rounds: number, date: string): string {
  const times = (name: string, part: keyof Start, kind: keyof Cost) =>
    results
      .filter((result) => result.name === name)
      .flatMap(({ starts }) => starts.flatMap((start) => start[part]?.[kind] ?? []));
  // The machine's speed changes during a run: each start is compared with that of the bare SDK in the same round.
  const ratio = (name: string, part: keyof Start, kind: keyof Cost, net: number) => {
    const bare = times("bare SDK", part, kind);
    const ratios = times(name, part, kind).map((time, n) => (time - net) / ((bare[n] ?? Number.NaN) - net));
    return number(median(ratios), 2);
  };
  const rows = (part: keyof Start) => {
    const net = median(times("empty", part, "processor"));
    return results
      .filter(({ name }) => times(name, part, "wall").length > 0)
      .map(({ name, bytes }) => [
        name,
        spread(times(name, part, "processor")),
        name === "empty" ? "–" : ratio(name, part, "processor", net),
        spread(times(name, part, "wall")),
        ratio(name, part, "wall", 0),
        ...(part === "load" ? [number(bytes)] : []),
      ]);
  };
  const head = ["", "processor (ms)", "× bare SDK, both less empty", "wall (ms)", "× bare SDK"];
  return `# Cold starts

Measured by \`npm run bench:start\` (${date}, Node ${process.version}): the deployed bundle of each function, in ${rounds} new processes each, which take turns; medians, and in parentheses the middle half. The ratios are medians of each round's ratio. Compare the times of a table with each other, not with those of another machine or of Lambda.

- **empty** is a handler that does nothing.
- **bare SDK** is a handler that reads one item, bundled in the same way but with the whole SDK.
- **bare SDK, 4 calls** is the same, and reads the item four times at once. Its row in the first table shows the noise.

## Loading the bundle

${table([...head, "bundle (bytes)"], rows("load"))}

## From the start of the process to the first response

On the embedded DynamoDB, without TLS. The references make one call, or four at the same time. A route makes one call for the account's rate limit and at least one of its own: list-leads reads a page of 1,000 counted leads, create-lead writes one, and send-message reads the lead and writes in a transaction. The authorizer reads the key, then the account's limit.

${table(head, rows("first"))}
`;
}
