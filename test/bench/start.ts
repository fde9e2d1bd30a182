/**
 * Measures what a cold start costs: how long the bundle of each function takes to load in a new process, compared with an
 * empty handler and the bare SDK.
 *
 * Writes docs/bench/start.md.
 *
 * Usage: npm run bench:start
 */
import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleFunctions, functionNames } from "../../lib/bundling/bundle.ts";
import { bundle } from "../support/bundle.ts";
import { type Candidate, measureLoads } from "./start/measure.ts";
import { report } from "./start/report.ts";

/** How many new processes load each bundle. */
const rounds = 31;

const here = join(import.meta.dirname, "start");
const directory = join(import.meta.dirname, "../../.build/bench");
await bundleFunctions(directory);
const reference = async (name: string, entry: string) => {
  const outfile = join(directory, `${name}.cjs`);
  await bundle(entry, outfile, true);
  return { name, bundle: outfile };
};
const candidates: readonly Candidate[] = [
  await reference("empty", join(here, "empty.ts")),
  await reference("bare SDK", join(here, "bare-sdk.ts")),
  ...functionNames.map((name) => ({ name, bundle: join(directory, name, "index.cjs") })),
];
// Node would parse the certificates of this machine in each process. No function has these variables.
const unset = { NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };
const loads = measureLoads(candidates, rounds, { ...process.env, AWS_REGION: "local", ...unset });
const results = candidates.map(({ name, bundle: file }) => ({
  ...{ name, bytes: statSync(file).size, loads: loads.get(name) ?? [] },
}));
const text = report(results, rounds, new Date().toISOString().slice(0, 10));
console.log(text);
await writeFile(join(import.meta.dirname, "../../docs/bench/start.md"), text);
