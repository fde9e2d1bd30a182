/**
 * Plants the faults of `faults/`, one at a time, in copies of the project, and runs the tests that are near. A fault that no
 * test notices has survived: a test is missing.
 *
 * Usage: WORKERS=2 MINUTES=600 SECONDS=90 SEED=1 OUT=planted.json npm run test:planted [-- <the beginnings of paths>]
 * `SECONDS` is the time of tests after which a fault has survived; `PROJECT` is another checkout, of an earlier commit.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startEngine } from "../../lib/local/engine/engine.ts";
import { seeded, shuffled } from "../support/random.ts";
import { type Fault, faults, plant } from "./faults.ts";
import { nearTests } from "./near-tests.ts";
import { copyProject, runTests, withText } from "./project-copy.ts";

const { PROJECT, OUT } = process.env;
const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const root = resolve(PROJECT ?? join(import.meta.dirname, "../.."));
const seed = setting("SEED", Date.now() % 1_000_000);
const milliseconds = 1000 * setting("SECONDS", 90);
let end = Date.now() + setting("MINUTES", 600) * 60_000;

/** How long a test file takes at least that notices a fault because it does not end, in milliseconds. */
const hung = 30_000;

/** How long a test file may take without a fault, in milliseconds. */
const longest = 600_000;

const results: (Fault & { readonly outcome: string; readonly noticed: boolean })[] = [];
const durations = new Map<string, number>();
/** Whether test files pass without a fault. */
const passing = new Map<string, boolean>();
const near = nearTests(root);

const paths = process.argv.slice(2);
const selected = faults.filter(
  ({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)),
);
const planted = selected.flatMap((fault) => {
  try {
    return { fault, text: plant(readFileSync(join(root, fault.file), "utf8"), fault) };
  } catch (error) {
    if (PROJECT === undefined) throw error;
    console.log(`left out: ${fault.file}: ${fault.why}`);
    return [];
  }
});
const queue = shuffled(seeded(seed), planted);
console.log(`SEED=${seed}: ${queue.length} of ${faults.length} faults`);

// Ctrl-C ends the run after the current faults.
process.once("SIGINT", () => {
  end = 0;
});
// An engine that the tests started would be left when they are stopped.
const engine = await startEngine({ log: console.error, onExit: () => process.exit(1) });
process.env.DYNAMODB_ENDPOINT = engine.endpoint;
try {
  await Promise.all(Array.from({ length: setting("WORKERS", 2) }, work));
} finally {
  await engine.stop();
}
const roomOf = (file: string) => file.split("/").slice(0, -1).slice(0, 2).join("/");
const rooms = [...Map.groupBy(results, ({ file }) => roomOf(file)), ["all", results] as const];
for (const [room, all] of rooms)
  console.log(`${room.padEnd(24)} ${all.filter(({ noticed }) => noticed).length} of ${all.length}`);
if (OUT) writeFileSync(OUT, JSON.stringify({ root, seed, results }, null, 2));

async function work(): Promise<void> {
  await using copy = await copyProject(root);
  for (let next = queue.shift(); next && Date.now() < end; next = queue.shift()) {
    const { fault, text } = next;
    const by = await findNotice(copy.path, fault.file, text);
    const outcome = by === undefined ? "SURVIVED" : `noticed by ${by}`;
    results.push({ ...fault, outcome, noticed: by !== undefined });
    console.log(`${outcome} < ${fault.file}: ${fault.why}`);
  }
}

/** The test that notices a fault: unit tests first, for half of the time, then those with an engine. */
async function findNotice(copy: string, file: string, text: string): Promise<string | undefined> {
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
      const run = () => runTests(copy, tests, left - reserve, durations);
      const { failed, stopped, time } = await withText(join(copy, file), text, run);
      left -= time;
      const suspect = failed ?? (stopped && stopped.after >= hung && { ...stopped, test: "did not end" });
      if (!suspect) break;
      const passes = await passesWithout(copy, suspect.file);
      const isSlow = stopped && stopped.after < 3 * (durations.get(suspect.file) ?? longest);
      if (passes && !isSlow) return `${suspect.file}: ${suspect.test}`;
      tests = tests.slice(tests.indexOf(suspect.file) + 1);
    }
  }
  return undefined;
}

/** Whether a test file passes without a fault; one that does not is left out from now on. */
async function passesWithout(copy: string, test: string): Promise<boolean> {
  const known = passing.get(test);
  if (known !== undefined) return known;
  const { failed, stopped } = await runTests(copy, [test], longest, durations);
  passing.set(test, !failed && !stopped);
  if (failed) console.log(`left out: ${test} fails without a fault: ${failed.test}`);
  return !failed && !stopped;
}
