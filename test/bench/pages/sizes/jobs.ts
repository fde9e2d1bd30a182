import type { Job, Scale } from "../job.ts";
import { buildLeads } from "../leads.ts";
import type { AccountReport } from "./read-account.ts";

const sizes: Readonly<Record<Scale, readonly number[]>> = {
  quick: [1000, 10_000],
  normal: [1000, 10_000, 100_000],
  million: [1000, 10_000, 100_000, 1_000_000],
};

/** Reads accounts with five sources, the smallest first. */
export const sizesJobs = (scale: Scale) =>
  sizes[scale].map(
    (size): Job<AccountReport> => ({
      name: `sizes-${size}`,
      prepare() {
        const population = buildLeads(`leads-${String(size).padStart(7, "0")}`, size);
        return {
          populations: [population],
          async measure(log) {
            const { readAccount } = await import("./read-account.ts");
            return [await readAccount(population, log)];
          },
        };
      },
    }),
  );
