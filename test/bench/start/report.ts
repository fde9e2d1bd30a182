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

/** The middle half of numbers, and their median. */
const quartiles = (values: readonly number[]) => ({
  low: percentile(values, 0.25),
  median: percentile(values, 0.5),
  high: percentile(values, 0.75),
});

/** The page of the documentation. */
export function report(results: readonly Result[], rounds: number, date: string): string {
  const find = (name: string) => {
    const result = results.find((candidate) => candidate.name === name);
    if (!result) throw new Error(`${name} was not measured.`);
    return result;
  };
  const costs = ({ starts }: Result, part: keyof Start) =>
    starts.map((start) => start[part]).filter((cost) => cost !== undefined);
  const median = (result: Result, part: keyof Start, kind: keyof Cost) =>
    quartiles(costs(result, part).map((cost) => cost[kind])).median;
  const spread = (result: Result, part: keyof Start, kind: keyof Cost) => {
    const { low, median, high } = quartiles(costs(result, part).map((cost) => cost[kind]));
    return `${number(median)} (${number(low)}–${number(high)})`;
  };
  // The machine's speed changes during a run: each start is compared with that of the bare SDK in the same round.
  const ratio = (result: Result, part: keyof Start, kind: keyof Cost, net: number) => {
    const bare = costs(find("bare SDK"), part);
    const ratios = costs(result, part).map(
      (cost, round) => (cost[kind] - net) / ((bare[round]?.[kind] ?? Number.NaN) - net),
    );
    return number(quartiles(ratios).median, 2);
  };
  const rows = (part: keyof Start) =>
    results
      .filter((result) => costs(result, part).length > 0)
      .map((result) => {
        const net = median(find("empty"), part, "processor");
        return [
          result.name,
          spread(result, part, "processor"),
          result.name === "empty" ? "–" : ratio(result, part, "processor", net),
          spread(result, part, "wall"),
          ratio(result, part, "wall", 0),
          ...(part === "load" ? [number(result.bytes)] : []),
        ];
      });
  const head = ["", "processor (ms)", "× bare SDK, both less empty", "wall (ms)", "× bare SDK"];
  return `# Cold starts

Measured by \`npm run bench:start\` (${date}, Node ${process.version}): the deployed bundle of each function, in ${rounds} new processes each, which take turns; medians, and in parentheses the middle half. The ratios are medians of each round's ratio. Compare the times of a table with each other, not with those of another machine or of Lambda.

- **empty** is a handler that does nothing.
- **bare SDK** is a handler that reads one item, bundled in the same way but with the whole SDK.
- **bare SDK, 4 calls** is the same, and reads the item four times at once. Its row in the first table shows the noise.
- **usual stack** is the bare SDK with middy, zod, and the logger, metrics and tracer of Powertools for AWS Lambda.

## Loading the bundle

${table([...head, "bundle (bytes)"], rows("load"))}

## From the start of the process to the first response

On the embedded DynamoDB, without TLS. The references make one call, or four at the same time. A route makes one call for the account's rate limit and at least one of its own: list-leads reads a page of 1,000 counted leads, create-lead writes one, and send-message reads the lead and writes in a transaction. The authorizer reads the key, then the account's limit.

${table(head, rows("first"))}
`;
}
