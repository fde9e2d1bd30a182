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
import { type Fault, faults, plant, roomOf } from "./faults.ts";
import { nearTests } from "./near-tests.ts";
import { ProjectCopy } from "./project-copy.ts";

const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const root = resolve(process.env.PROJECT ?? join(import.meta.dirname, "../.."));
const seed = setting("SEED", Date.now() % 1_000_000);
const milliseconds = 1000 * setting("SECONDS", 90);
let end = Date.now() + setting("MINUTES", 600) * 60_000;

/** A test file that has not ended after this time, and three times that without the fault, has noticed it. In milliseconds. */
const hung = 30_000;

/** How long a test file may take without a fault, in milliseconds. */
const longest = 600_000;

/** A fault, and the test that noticed it. */
interface Result extends Fault {
  readonly outcome: "noticed" | "survived" | "not applicable";
  readonly by?: string;
}

const results: Result[] = [];
const durations = new Map<string, number>();
/** Whether test files pass without a fault. */
const passing = new Map<string, boolean>();
const near = nearTests(root);

const paths = process.argv.slice(2);
const selected = faults.filter(
  ({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)),
);
if (selected.length === 0) throw new Error("No planted fault has such a path.");
const planted = selected.flatMap((fault) => {
  try {
    return { fault, text: plant(readFileSync(join(root, fault.file), "utf8"), fault) };
  } catch (error) {
    if (!process.env.PROJECT) throw error;
    report(fault, "not applicable");
    return [];
  }
});
const queue = shuffled(seeded(seed), planted);
console.log(`SEED=${seed}: ${queue.length} of ${faults.length} faults`);

// Ctrl-C ends the run after the current faults.
process.once("SIGINT", () => {
  end = 0;
});
const engine = await startEngine({ log: console.error, onExit: () => process.exit(1) });
try {
  await Promise.all(Array.from({ length: setting("WORKERS", 2) }, work));
} finally {
  await engine.stop();
}
const rooms = [...Map.groupBy(results, ({ file }) => roomOf(file)), ["all", results] as const];
const table = rooms.map(([room, all]) => {
  const applicable = all.filter(({ outcome }) => outcome !== "not applicable");
  return { room, noticed: all.filter(({ by }) => by !== undefined).length, of: applicable.length };
});
for (const { room, noticed, of } of table) console.log(`${room.padEnd(24)} ${noticed} of ${of}`);
if (process.env.OUT)
  writeFileSync(process.env.OUT, JSON.stringify({ root, seed, rooms: table, results }, null, 2));

async function work(): Promise<void> {
  await using copy = await ProjectCopy.create(root, engine.endpoint, durations);
  for (let next = queue.shift(); next && Date.now() < end; next = queue.shift()) {
    const by = await findNotice(copy, next.fault.file, next.text);
    report(next.fault, by === undefined ? "survived" : "noticed", by);
  }
}

/** The test that notices a fault: unit tests first, for half of the time, then those with an engine. */
async function findNotice(copy: ProjectCopy, file: string, text: string): Promise<string | undefined> {
  const distances = near(file);
  // A test file of five seconds is as far as one of no time that has another import between.
  const cost = (test: string) => (distances.get(test) ?? 0) + (durations.get(test) ?? 0) / 5000;
  let left = milliseconds;
  for (const isIntegration of [false, true]) {
    const of = [...distances.keys()].filter(
      (test) => test.endsWith(".integration.test.ts") === isIntegration,
    );
    let tests = of.filter((test) => passing.get(test) !== false).sort((a, b) => cost(a) - cost(b));
    const least = isIntegration ? 0 : milliseconds / 2;
    while (tests.length > 0 && left > least) {
      const { failed, stopped, time } = await copy.run({ file, text, tests, most: left - least });
      left -= time;
      const suspect =
        failed ?? (stopped && stopped.after >= hung ? { ...stopped, test: "did not end" } : undefined);
      if (!suspect) break;
      const passes = await passesWithout(copy, suspect.file);
      const isSlow = stopped && 3 * (durations.get(suspect.file) ?? longest) > stopped.after;
      if (passes && !isSlow) return `${suspect.file}: ${suspect.test}`;
      tests = tests.slice(tests.indexOf(suspect.file) + 1);
    }
  }
  return undefined;
}

/** Whether a test file passes without a fault; one that does not is left out from now on. */
async function passesWithout(copy: ProjectCopy, test: string): Promise<boolean> {
  if (!passing.has(test)) {
    const { failed, stopped } = await copy.run({ tests: [test], most: longest });
    passing.set(test, !failed && !stopped);
    if (failed) console.log(`left out: ${test} fails without a fault: ${failed.test}`);
  }
  return passing.get(test) === true;
}

function report(fault: Fault, outcome: Result["outcome"], by?: string): void {
  results.push({ ...fault, outcome, ...(by !== undefined && { by }) });
  const label = { noticed: `noticed by ${by}`, survived: "SURVIVED", "not applicable": "not applicable" }[
    outcome
  ];
  console.log(`${label} < ${fault.file}: ${fault.why}`);
}
