import type { Population } from "./population.ts";

/** How large the accounts of a run are. */
export type Scale = "quick" | "normal" | "million";

/** Reports progress. */
export type Log = (line: string) => void;

/** A job's accounts, none of them counted yet. */
export interface Prepared<Report> {
  readonly populations: readonly Population[];
  /** Measures the accounts once the engine has them; a wrong response ends the run. */
  readonly measure: (log: Log) => Promise<readonly Report[]>;
}

/** A piece of the benchmark that runs alone, in a process and on an engine of its own. */
export interface Job<Report = unknown> {
  readonly name: string;
  readonly prepare: () => Prepared<Report>;
}
