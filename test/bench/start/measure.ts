import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** In milliseconds. */
export interface Cost {
  readonly processor: number;
  readonly wall: number;
}

/** What one new process took. */
export interface Start {
  /** To load the bundle. */
  readonly load: Cost;
  /** From the start of the process to the handler's first response; only of functions that respond. */
  readonly first?: Cost;
}

/** A function that is compared. */
export interface Candidate {
  readonly name: string;
  /** The path of its bundle. */
  readonly bundle: string;
  /** What the handler is invoked with, if it responds to requests. */
  readonly event?: object;
}

/** Loads each bundle in new processes, in turns, so that changes in the machine's speed affect all. */
export function measureStarts(
  candidates: readonly Candidate[],
  rounds: number,
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, readonly Start[]> {
  const starts = new Map(candidates.map(({ name }) => [name, [] as Start[]]));
  // The first processes read the files from the disk.
  for (const candidate of candidates) start(candidate, env);
  for (let round = 0; round < rounds; round++)
    for (const candidate of candidates) starts.get(candidate.name)?.push(start(candidate, env));
  return starts;
}

function start({ name, bundle, event }: Candidate, env: NodeJS.ProcessEnv): Start {
  const args = [join(import.meta.dirname, "measure.cjs"), bundle, ...(event ? [JSON.stringify(event)] : [])];
  const { status, output } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env,
    // The functions log what they do.
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  if (status !== 0) throw new Error(`${name} failed: ${output[2]}`);
  return JSON.parse(String(output[3]));
}
