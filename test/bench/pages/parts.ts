import type { Job, Scale } from "./job.ts";
import { sizesJobs } from "./sizes/jobs.ts";
import { sourcesJobs } from "./sources/jobs.ts";
import { windowsJobs } from "./windows/jobs.ts";
import { writesJobs } from "./writes/jobs.ts";

/** The parts of the benchmark, each with its jobs. */
export const parts = {
  sizes: sizesJobs,
  sources: sourcesJobs,
  windows: windowsJobs,
  writes: writesJobs,
} as const satisfies Record<string, (scale: Scale) => readonly Job[]>;

export type Part = keyof typeof parts;

export const partNames = Object.keys(parts) as readonly Part[];

type ReportOf<J> = J extends readonly Job<infer Report>[] ? Report : never;

/** What the jobs of each part reported; empty for parts that did not run. */
export type Results = { readonly [P in Part]: readonly ReportOf<ReturnType<(typeof parts)[P]>>[] };
