import type { Result } from "./run.ts";

/** How many sentences of a kind are printed at the most. */
const most = 10;

/** The figures of all phases as a table, and the faults in sentences. */
export function report(results: readonly Result[], seed: number): string {
  const rows = [headings, ...results.map(toRow), buildTotal(results)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? pad(cell, -(widths[column] ?? 0)) : pad(cell, widths[column] ?? 0),
      )
      .join("  "),
  );
  return [`seed ${seed}`, ...lines, ...results.flatMap(listFaults)].join("\n");
}

const headings = [
  ...["fault", "requests", "injected", "acknowledged", "gave up", "lost", "doubled"],
  ...["lists checked", "batches retried", "violations", "seconds"],
];

const countInjected = ({ injected }: Result) => [...injected.values()].reduce((sum, count) => sum + count, 0);

const toFigures = (result: Result) => [
  ...[result.requests, countInjected(result), result.acknowledged, result.unacknowledged, result.lost.length],
  ...[result.doubled.length, result.listings, result.batchFailures, result.violations.length, result.seconds],
];

const toRow = (result: Result): (string | number)[] => [result.phase.name, ...toFigures(result)];

function buildTotal(results: readonly Result[]): (string | number)[] {
  const figures = results.map(toFigures);
  return [
    "total",
    ...(figures[0] ?? []).map((_, column) => figures.reduce((sum, row) => sum + (row[column] ?? 0), 0)),
  ];
}

/** @param width a negative one aligns to the left */
const pad = (cell: string | number, width: number) =>
  width < 0 ? String(cell).padEnd(-width) : String(cell).padStart(width);

function listFaults({ phase, lost, doubled, violations }: Result): string[] {
  return Object.entries({ lost, doubled, violations }).flatMap(([kind, faults]) => [
    ...faults.slice(0, most).map((fault) => `${phase.name}, ${kind}: ${fault}`),
    ...(faults.length > most ? [`${phase.name}, ${kind}: and ${faults.length - most} more`] : []),
  ]);
}
