import type { Row } from "../markdown.ts";
import type { Results } from "./results.ts";

/** The results of all runs, those of the same plan below each other; a run that did not measure them has none. */
export function rows<Result>(
  runs: readonly Results[],
  resultsOf: (run: Results) => readonly Result[],
  toRow: (result: Result, label: string) => Row,
): Row[] {
  const most = Math.max(...runs.map((run) => resultsOf(run).length));
  return Array.from({ length: most }, (_, at) =>
    runs.flatMap((run) => {
      const result = resultsOf(run)[at];
      return result === undefined ? [] : [toRow(result, run.label)];
    }),
  ).flat();
}
