/**
 * Mutation testing: changes the sources of copies of the project, one change at a time, and runs the tests that import the
 * changed file. A change that no test notices is a survivor: a test is missing, or the code is not needed.
 *
 * Usage: SEED=1 SAMPLE=150 MINUTES=60 WORKERS=2 npm run test:mutants [-- <the beginnings of paths>]
 * With `-- rules`, it breaks the rules of the counted trees, each on purpose.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startEngine } from "../../lib/local/engine/engine.ts";
import { seeded, shuffled } from "../support/random.ts";
import { brokenRules, toMutation } from "./broken-rules.ts";
import { coveringTests } from "./covering-tests.ts";
import { isHarmless } from "./harmless.ts";
import { applyMutation, findMutations, type Mutation } from "./mutations.ts";
import { TestProcess } from "./test-process.ts";

const root = join(import.meta.dirname, "../..");
const scope = "{shared/**,functions,lib/{config,constructs,monitoring}}/*.ts";

const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const seed = setting("SEED", Date.now() % 1_000_000);
const sample = setting("SAMPLE", 150);
let end = Date.now() + setting("MINUTES", 60) * 60_000;
const workers = setting("WORKERS", 2);

interface Mutant {
  readonly file: string;
  readonly source: string;
  readonly mutation: Mutation;
}

const paths = process.argv.slice(2);
const mutants = paths[0] === "rules" ? breakRules() : findMutants(paths);
const chosen = shuffled(seeded(seed), mutants).slice(0, sample);
if (chosen.length === 0) throw new Error("No source that can be mutated has such a path.");
console.log(`SEED=${seed}: ${chosen.length} of ${mutants.length} mutants`);

const covering = coveringTests(root);
/** The tests that noticed a mutant: whether they pass without one. */
const passes = new Map<string, boolean>();
/** How long test files took last, in milliseconds: the quick ones run first. */
const durations = new Map<string, number>();
const results = new Map<string, boolean[]>();

// Ctrl-C ends the run after the current mutants.
process.once("SIGINT", () => {
  end = 0;
});
const engine = await startEngine({ log: console.error, onExit: () => process.exit(1) });
try {
  await Promise.all(Array.from({ length: workers }, work));
} finally {
  await engine.stop();
}
printScores();

function findMutants(paths: readonly string[]): Mutant[] {
  const files = globSync(scope, { cwd: root }).sort();
  const selected = files.filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)));
  return selected.flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    return findMutations(source)
      .map((mutation) => ({ file, source, mutation }))
      .filter((mutant) => !isHarmless(file, describeChange(mutant)));
  });
}

function breakRules(): Mutant[] {
  return brokenRules.map((rule) => {
    const source = readFileSync(join(root, rule.file), "utf8");
    return { file: rule.file, source, mutation: toMutation(source, rule) };
  });
}

async function work(): Promise<void> {
  await using tests = await TestProcess.create(engine.endpoint);
  for (let mutant = chosen.shift(); mutant && Date.now() < end; mutant = chosen.shift()) {
    const noticedBy = await findNotice(tests, mutant);
    const folder = mutant.file.split("/").slice(0, 2).join("/");
    results.set(folder, [...(results.get(folder) ?? []), noticedBy !== undefined]);
    const line = mutant.source.slice(0, mutant.mutation.start).split("\n").length;
    console.log(
      `${noticedBy ? "  noticed" : "SURVIVED"} ${mutant.file}:${line} ${describeChange(mutant)}${noticedBy ? ` (${noticedBy})` : ""}`,
    );
  }
}

/** The test that notices a mutant: unit tests first, then those with an engine. */
async function findNotice(
  tests: TestProcess,
  { file, source, mutation }: Mutant,
): Promise<string | undefined> {
  const text = applyMutation(source, mutation);
  const { unit, integration } = covering(file);
  for (const files of [unit, integration]) {
    for (;;) {
      const duration = (test: string) => durations.get(test) ?? 0;
      const reliable = files
        .filter((test) => passes.get(test) !== false)
        .sort((a, b) => duration(a) - duration(b));
      if (reliable.length === 0) break;
      const { failed, ...outcome } = await tests.run({ file, text, tests: reliable });
      for (const [test, time] of Object.entries(outcome.durations)) durations.set(test, time);
      if (!failed) break;
      if (!passes.has(failed.file)) {
        const without = await tests.run({ file, text: source, tests: [failed.file] });
        passes.set(failed.file, !without.failed);
        if (without.failed)
          console.log(`The tests of ${failed.file} fail without a mutant, and are left out.`);
      }
      if (passes.get(failed.file)) return `${failed.file}: ${failed.name}`;
    }
  }
  return undefined;
}

/** The changed lines, before and after. */
function describeChange({ source, mutation }: Mutant): string {
  const { start, end, replacement } = mutation;
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const to = source.indexOf("\n", end);
  const after = source.slice(from, start) + replacement + source.slice(end, to);
  return [source.slice(from, to), after].map((lines) => lines.trim().replaceAll(/\s+/g, " ")).join(" → ");
}

function printScores(): void {
  const rows = [...results].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [folder, noticed] of [...rows, ["all", rows.flatMap(([, noticed]) => noticed)] as const]) {
    const count = noticed.filter(Boolean).length;
    console.log(
      `${folder.padEnd(24)} ${count} of ${noticed.length}: ${Math.round((100 * count) / noticed.length)} %`,
    );
  }
}
