import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** What loading a bundle took in one new process, in milliseconds. */
export interface Load {
  readonly processor: number;
  readonly wall: number;
}

/** A function that is compared. */
export interface Candidate {
  readonly name: string;
  /** The path of its bundle. */
  readonly bundle: string;
}

/** Loads each bundle in new processes, in turns, so that changes in the machine's speed affect all. */
export function measureLoads(
  candidates: readonly Candidate[],
  rounds: number,
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, readonly Load[]> {
  const loads = new Map(candidates.map(({ name }) => [name, [] as Load[]]));
  // The first processes read the files from the disk.
  for (const candidate of candidates) load(candidate, env);
  for (let round = 0; round < rounds; round++)
    for (const candidate of candidates) loads.get(candidate.name)?.push(load(candidate, env));
  return loads;
}

function load({ name, bundle }: Candidate, env: NodeJS.ProcessEnv): Load {
  const { status, output } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "measure.cjs"), bundle],
    // The functions log what they do.
    { encoding: "utf8", env, stdio: ["ignore", "ignore", "pipe", "pipe"] },
  );
  if (status !== 0) throw new Error(`${name} failed: ${output[2]}`);
  return JSON.parse(String(output[3]));
}
