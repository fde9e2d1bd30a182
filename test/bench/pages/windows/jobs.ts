import type { Job, Scale } from "../job.ts";
import { buildLeads } from "../leads.ts";
import type { WindowsReport } from "./read-windows.ts";

const sizes: Readonly<Record<Scale, readonly number[]>> = {
  quick: [10_000],
  normal: [10_000, 100_000],
  million: [10_000, 100_000, 1_000_000],
};

/** Reads windows of the lists of accounts, and single leads by id and by email address. */
export const windowsJobs = (scale: Scale) =>
  sizes[scale].map(
    (size): Job<WindowsReport> => ({
      name: `windows-${size}`,
      prepare() {
        const population = buildLeads("windows", size);
        return {
          populations: [population],
          async measure(log) {
            const { readWindows } = await import("./read-windows.ts");
            return [await readWindows(population, log)];
          },
        };
      },
    }),
  );
