import type { Job, Scale } from "../job.ts";
import { buildLeads } from "../leads.ts";
import type { NamesReport } from "./read-names.ts";

/** Reads an account before and after it gets sources whose names take as many bytes as they can. */
export const namesJobs = (scale: Scale): Job<NamesReport>[] => [
  {
    name: "names",
    prepare() {
      const population = buildLeads("hostile-names", scale === "quick" ? 10_000 : 100_000);
      return {
        populations: [population],
        async measure(log) {
          const { readNames } = await import("./read-names.ts");
          return readNames(population, scale === "quick" ? 1000 : 10_000, log);
        },
      };
    },
  },
];
