/**
 * Prints what a cold start costs: the processor time in which a new process loads the bundle of each function, compared with
 * the bare SDK: a handler that reads and writes items, bundled in the same way but with the whole SDK. Compare the times of a
 * run with each other, not with those of another machine or of Lambda.
 *
 * Usage: npm run bench:start
 */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { bundleFunctions, bundleOptions, functionNames } from "../../lib/bundling/bundle.ts";
import { percentile } from "../support/cases/statistics.ts";
import { number, table } from "./report.ts";

/** How many new processes load each bundle. */
const rounds = 31;

const here = join(import.meta.dirname, "start");
const directory = join(import.meta.dirname, "../../.build/bench");
await bundleFunctions(directory);
const bareSdk = join(directory, "bare-sdk.cjs");
await build({ ...bundleOptions, external: [], entryPoints: [join(here, "bare-sdk.ts")], outfile: bareSdk });
const bundles = [
  { name: "bare SDK", file: bareSdk },
  ...functionNames.map((name) => ({ name, file: join(directory, name, "index.cjs") })),
].map((each) => ({ ...each, times: [] as number[] }));

// With these variables, which no function has, Node would parse this machine's certificates in each process.
const unset = { NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };
const env = { ...process.env, AWS_REGION: "local", ...unset };

/** Loads a bundle in a new process. @returns the processor time in milliseconds */
function load(file: string): number {
  const { status, output } = spawnSync(process.execPath, [join(here, "measure.cjs"), file], {
    ...{ encoding: "utf8", env },
    // The functions log to the standard output, which is ignored.
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  if (status !== 0) throw new Error(`${file} failed: ${output[2]}`);
  return Number(output[3]);
}

// The first processes are not measured, because they read the files from the disk.
for (const { file } of bundles) load(file);
// The bundles take turns, so that changes in the machine's speed affect all of them.
for (let round = 0; round < rounds; round++) for (const { file, times } of bundles) times.push(load(file));

const medians = bundles.map(({ times }) => percentile(times, 0.5));
const rows = bundles.map(({ name, file }, n) => {
  const median = medians[n] ?? Number.NaN;
  const [bare = Number.NaN] = medians;
  const times = { "processor (ms)": number(median), "× bare SDK": median / bare };
  return { "": name, ...times, "bundle (bytes)": statSync(file).size };
});
console.log(table(rows));
