/**
 * Plants the faults of `faults/`, one at a time, in copies of the project, and runs the tests that are near. A fault that no
 * test notices has survived: a test is missing.
 *
 * Usage: WORKERS=2 MINUTES=600 SECONDS=90 SEED=1 SAMPLE=200 OUT=planted.json npm run test:planted [-- <beginnings of paths>]
 * `SECONDS` is the time of tests after which a fault has survived; `SAMPLE` is how many of the faults are planted, all by
 * default; `PROJECT` is another checkout, of an earlier commit.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { seeded, shuffled } from "../support/random.ts";
import { type Fault, faults, plant } from "./faults.ts";
import { nearTests } from "./near-tests.ts";
import { copyProject, runTests } from "./project-copy.ts";

const { PROJECT, OUT } = process.env;
const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const root = resolve(PROJECT ?? join(import.meta.dirname, "../.."));
const seed = setting("SEED", Date.now() % 1_000_000);
const milliseconds = 1000 * setting("SECONDS", 90);
const end = Date.now() + setting("MINUTES", 600) * 60_000;

/** How long a test file takes at least that notices a fault because it does not end, in milliseconds. */
const hung = 30_000;

const results: (Fault & { readonly outcome: string; readonly noticed: boolean })[] = [];
const durations = new Map<string, number>();
/** Whether test files pass without a fault. */
const passing = new Map<string, boolean>();
const near = nearTests(root);

const paths = process.argv.slice(2);
const selected = faults.filter(
  ({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)),
);
const chosen = shuffled(seeded(seed), selected).slice(0, setting("SAMPLE", selected.length));
const queue = chosen.flatMap((fault) => {
  try {
    return { fault, text: plant(readFileSync(join(root, fault.file), "utf8"), fault) };
  } catch (error) {
    if (PROJECT === undefined) throw error;
    console.log(`left out: ${fault.file}: ${fault.why}`);
    return [];
  }
});
console.log(`SEED=${seed}: ${queue.length} of ${faults.length} faults`);

await using unchanged = await copyProject(root);
await Promise.all(Array.from({ length: setting("WORKERS", 2) }, work));
const byRoom = Map.groupBy(results, ({ file }) => file.split("/").slice(0, -1).slice(0, 2).join("/"));
const rooms = [...byRoom, ["all", results] as const];
for (const [room, all] of rooms)
  console.log(`${room.padEnd(24)} ${all.filter(({ noticed }) => noticed).length} of ${all.length}`);
if (OUT) writeFileSync(OUT, JSON.stringify({ root, seed, results }, null, 2));

async function work(): Promise<void> {
  await using copy = await copyProject(root);
  for (let next = queue.shift(); next && Date.now() < end; next = queue.shift()) {
    const { fault, text } = next;
    await writeFile(join(copy.path, fault.file), text);
    const by = await findNotice(copy.path, fault.file);
    await cp(join(root, fault.file), join(copy.path, fault.file));
    const outcome = by === undefined ? "SURVIVED" : `noticed by ${by}`;
    results.push({ ...fault, outcome, noticed: by !== undefined });
    console.log(`${outcome} < ${fault.file}: ${fault.why}`);
  }
}

/** The test that notices a fault: unit tests first, for half of the time, then those with an engine. */
async function findNotice(copy: string, file: string): Promise<string | undefined> {
  const distances = near(file);
  // Five seconds count as much as another import between.
  const cost = (test: string) => (distances.get(test) ?? 0) + (durations.get(test) ?? 0) / 5000;
  let left = milliseconds;
  for (const isIntegration of [false, true]) {
    let tests = [...distances.keys()]
      .filter(
        (test) => test.endsWith(".integration.test.ts") === isIntegration && passing.get(test) !== false,
      )
      .sort((a, b) => cost(a) - cost(b));
    const reserve = isIntegration ? 0 : milliseconds / 2;
    while (tests.length > 0 && left > reserve) {
      const { failed, time } = await runTests(copy, tests, left - reserve, durations);
      left -= time;
      const { stoppedAfter = Number.POSITIVE_INFINITY } = failed ?? {};
      if (!failed || stoppedAfter < hung) break;
      const passes = await passesWithout(failed.file);
      const usual = durations.get(failed.file) ?? 0;
      if (passes && stoppedAfter > 3 * usual) return `${failed.file}: ${failed.test}`;
      tests = tests.slice(tests.indexOf(failed.file) + 1);
    }
  }
  return undefined;
}

/** Whether a test file passes without a fault; one that does not is left out from now on. */
async function passesWithout(test: string): Promise<boolean> {
  const known = passing.get(test);
  if (known !== undefined) return known;
  const { failed } = await runTests(unchanged.path, [test], 600_000, durations);
  passing.set(test, !failed);
  if (failed) console.log(`left out: ${test} fails without a fault: ${failed.test}`);
  return !failed;
}
