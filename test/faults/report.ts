import type { Result } from "./run.ts";

/** How many sentences of a kind are printed. */
const most = 10;

/** The figures of all phases as a table, and what was wrong in sentences. */
export function report(results: readonly Result[], seed: number): string {
  const rows = [headings, ...results.map(rowOf), totalOf(results)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? pad(cell, -(widths[column] ?? 0)) : pad(cell, widths[column] ?? 0),
      )
      .join("  "),
  );
  return [`seed ${seed}`, ...lines, ...results.flatMap(faultsOf)].join("\n");
}

const headings = [
  ...["fault", "requests", "injected", "acknowledged", "gave up", "lost", "doubled"],
  ...["lists checked", "batches again", "broken", "seconds"],
];

const injectedOf = ({ injected }: Result) => [...injected.values()].reduce((sum, count) => sum + count, 0);

const figuresOf = (result: Result) => [
  ...[result.requests, injectedOf(result), result.acknowledged, result.gaveUp, result.lost.length],
  ...[result.doubled.length, result.listings, result.batchFailures, result.broken.length, result.seconds],
];

const rowOf = (result: Result): (string | number)[] => [result.phase.name, ...figuresOf(result)];

function totalOf(results: readonly Result[]): (string | number)[] {
  const figures = results.map(figuresOf);
  return [
    "total",
    ...(figures[0] ?? []).map((_, column) => figures.reduce((sum, row) => sum + (row[column] ?? 0), 0)),
  ];
}

/** @param width left of it when it is negative */
const pad = (cell: string | number, width: number) =>
  width < 0 ? String(cell).padEnd(-width) : String(cell).padStart(width);

function faultsOf({ phase, lost, doubled, broken }: Result): string[] {
  return Object.entries({ lost, doubled, broken }).flatMap(([kind, faults]) => [
    ...faults.slice(0, most).map((fault) => `${phase.name}, ${kind}: ${fault}`),
    ...(faults.length > most ? [`${phase.name}, ${kind}: and ${faults.length - most} more`] : []),
  ]);
}
