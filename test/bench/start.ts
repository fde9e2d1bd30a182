/**
 * Measures how long every function's bundle takes to load, compared with an empty handler and a bundle of the bare
 * SDK. Each load is in a new process; the bundles take turns, so that changes in the machine's speed affect all.
 *
 * Usage: npm run bench:start [-- ROUNDS]
 */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { bundle, bundleFunctions, functionNames } from "../../lib/bundling/bundle.ts";

const rounds = Number(process.argv[2] ?? 21);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("ROUNDS must be a whole number of at least 1.");

const references = ["empty", "bare-sdk"];
const names = [...references, ...functionNames];
const here = join(import.meta.dirname, "start");
const directory = join(here, "..", "..", "..", ".build", "bench");
const bundlePath = (name: string) => join(directory, name, "index.cjs");

await bundleFunctions(directory);
for (const name of references) await bundle(join(here, `${name}.ts`), bundlePath(name));

const times = new Map<string, number[]>(names.map((name) => [name, []]));
const load = (name: string) =>
  Number(
    execFileSync(process.execPath, [join(here, "load.cjs"), bundlePath(name)], {
      encoding: "utf8",
      env: { TABLE_NAME: "bench", AWS_REGION: "local" },
    }),
  );

for (const name of names) load(name);
for (let round = 0; round < rounds; round++) for (const name of names) times.get(name)?.push(load(name));

const median = (name: string) => {
  const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

console.log(`Node ${process.version}, median of ${rounds} fresh processes each`);
console.table(
  Object.fromEntries(
    names.map((name) => [
      name,
      {
        "load (ms)": Number(median(name).toFixed(1)),
        "× bare SDK": Number((median(name) / median("bare-sdk")).toFixed(2)),
        "bundle (bytes)": statSync(bundlePath(name)).size,
      },
    ]),
  ),
);
