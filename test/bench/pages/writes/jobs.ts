import type { Job, Scale } from "../job.ts";
import { buildLeads } from "../leads.ts";
import { sourcePicker } from "../sources/distribution.ts";
import type { Writing } from "./write-cost.ts";

/** Changes an account, and imports back-dated leads into others. */
export const writesJobs = (scale: Scale) => [
  changes(scale === "quick" ? 10_000 : 100_000),
  ...[1, 5, 200, 1000].map((sources) => steady(scale === "quick" ? 10_000 : 100_000, sources)),
  backdated(scale === "quick" ? 3000 : 100_000, false),
  backdated(scale === "quick" ? 3000 : 100_000, true),
];

const changes = (size: number): Job<Writing> => ({
  name: "writes",
  prepare() {
    const population = buildLeads(`leads-${String(size).padStart(7, "0")}`, size);
    return {
      populations: [population],
      async measure() {
        const { writeAccount } = await import("./write-account.ts");
        return writeAccount(population);
      },
    };
  },
});

/** Creates leads in an account whose sources all have trees. */
const steady = (size: number, sources: number): Job<Writing> => ({
  name: `writes-steady-${sources}`,
  prepare() {
    const population = buildLeads(`steady-${sources}`, size, sourcePicker({ sources, skewed: false }));
    return {
      populations: [population],
      async measure(log) {
        const { countAccount } = await import("../count-account.ts");
        const { createSteadily } = await import("./write-account.ts");
        await countAccount(population);
        const writings = [];
        for (const perSecond of [1, 10, 50]) {
          log(`creating ${perSecond} a second`);
          writings.push(await createSteadily(population, sources, perSecond));
        }
        return writings;
      },
    };
  },
});

/** @param late whether the stream delivers only after all is written */
const backdated = (count: number, late: boolean): Job<Writing> => ({
  name: late ? "writes-backdated-late" : "writes-backdated",
  prepare() {
    const population = buildLeads(late ? "imported-late" : "imported-live", 10_000);
    return {
      populations: [population],
      async measure() {
        const { backdate } = await import("./write-account.ts");
        return [await backdate(population, count, { order: late ? "by time" : "random", late })];
      },
    };
  },
});
