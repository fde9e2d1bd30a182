import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a request costs, by docs/deploying.md. */
export interface Cost {
  /** In units. */
  readonly writes: number;
  readonly reads: number;
}

const readPage = (page: string) => readFileSync(join(import.meta.dirname, "../../docs", page), "utf8");

/** The cells of the table that has a heading cell, without the headings. */
function readTable(page: string, heading: string): string[][] {
  const lines = readPage(page).split("\n");
  const start = lines.findIndex((line) => line.startsWith("|") && line.includes(` ${heading} |`));
  if (start < 0) throw new Error(`docs/${page} has no table with ${heading}.`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith("|"));
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The costs of requests, by the names of docs/deploying.md, where "The same" stands for the name before. */
export function readCosts(): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>();
  let former = "";
  for (const [cell = "", writes, reads] of readTable("deploying.md", "**A million**")) {
    const name = cell.replace("The same", former);
    if (name === cell) former = name;
    costs.set(name, { writes: Number(writes), reads: Number(reads) });
  }
  return costs;
}

/** The write units of the rate limit that docs/deploying.md has in each figure. Few requests cost up to one each. */
export const limiterWrites = 0.12;

/** Dollars for a unit, by docs/deploying.md. */
export const unitPrices = { write: 0.625e-6, read: 0.125e-6 };
