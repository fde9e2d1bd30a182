import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, Scale } from "./job.ts";
import { type Part, partNames, parts, type Results } from "./parts.ts";

/** A job and the file for its results. */
export interface JobFile {
  readonly part: Part;
  readonly name: string;
  readonly file: string;
}

/** The jobs of a run, each with its file in a directory. */
export const listJobs = (directory: string, scale: Scale): JobFile[] =>
  partNames.flatMap((part) => {
    const jobs: readonly Job[] = parts[part](scale);
    return jobs.map(({ name }) => ({ part, name, file: join(directory, scale, `${name}.json`) }));
  });

/** Reads what jobs reported; those that have not run yet are left out. */
export async function readResults(jobs: readonly JobFile[], log: (line: string) => void): Promise<Results> {
  const results: Record<string, unknown[]> = Object.fromEntries(partNames.map((part) => [part, []]));
  for (const { part, name, file } of jobs) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text) results[part]?.push(...(JSON.parse(text) as unknown[]));
    else log(`${name} is left out: it has not run.`);
  }
  return results as unknown as Results;
}
