import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a request costs, by docs/deploying.md. */
export interface Cost {
  /** In units. */
  readonly writes: number;
  readonly reads: number;
}

/** The costs of requests, by the names of docs/deploying.md, where "The same" stands for the name before. */
export function readCosts(): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>();
  const page = readFileSync(join(import.meta.dirname, "../../docs/deploying.md"), "utf8");
  const [, rows = ""] = /^\|.* \*\*A million\*\* \|.*\n\|.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
  let former = "";
  for (const [, cell = "", writes, reads] of rows.matchAll(/^\| *(.*?) *\|(.*?)\|(.*?)\|/gm)) {
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
