import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { watch } from "chokidar";
import { errorMessage, UserError } from "../errors.ts";
import { callInChildProcess } from "./child-process.ts";
import type { LocalRun } from "./local-run.ts";
import { synthesize } from "./synthesize.ts";
import { isSameStack, readStack } from "./template/template.ts";

const root = join(import.meta.dirname, "..", "..");

/** The sources of the functions and the stack. */
const sources = ["functions", "shared", "lib", "stages", "cdk.json"];

/** Sources of neither; this process has loaded the local run and cannot reload it. */
const ignored = ["lib/local", "lib/ops"].map((path) => join(root, path));

/** The quiet time before a change is handled, in milliseconds: editors and git write several files at once. */
const quietTime = 100;

interface Change {
  /** The last of the changed files, relative to the root. */
  readonly file: string;
  /** Aborted by the next change. */
  readonly signal: AbortSignal;
}

/**
 * Applies changed sources to a run: new code of the functions within about a second, a changed stack by a restart
 * after its synthesis. When something cannot be built, that is logged and the run keeps its old code.
 *
 * @param stage the stage that the run serves
 * @param first the initial run; its cloud assembly is in a directory of its own
 * @param restart stops a run, and starts another one that serves the cloud assembly
 * @throws UserError when a restart fails
 */
export async function serveChanges(
  stage: string,
  first: LocalRun,
  restart: (run: LocalRun, templateDirectory: string) => Promise<LocalRun>,
): Promise<void> {
  let run = first;
  /** The next bundles' directory and the current one's, so that a failed build does not replace current code. */
  const directories: [string, string] = ["bundles-0", "bundles-1"];
  for await (const change of watchSources()) {
    const assembly = await build(stage, change, directories, run).catch((error: unknown) => {
      if (error instanceof UserError) console.error(`[watch] ${error.message}`);
      else if (!change.signal.aborted) throw error;
    });
    if (assembly === undefined) continue;
    console.log("[watch] The stack changed: restarting …");
    run = await restart(run, assembly);
    console.log("[watch] Serving the new stack.");
  }
}

/** Gives the run new code. @returns the cloud assembly to restart with, if the stack changed */
async function build(
  stage: string,
  { file, signal }: Change,
  directories: [string, string],
  { templateDirectory, reload }: LocalRun,
): Promise<string | undefined> {
  const startedAt = performance.now();
  const bundles = join(dirname(templateDirectory), directories[0]);
  await rm(bundles, { recursive: true, force: true });
  const module = new URL("../bundling/bundle.ts", import.meta.url);
  await callInChildProcess([module, "bundleFunctions", bundles], { failure: `After a change of ${file}` });
  reload(bundles);
  directories.reverse();
  console.log(`[watch] ${file} changed: new code after ${Math.round(performance.now() - startedAt)} ms.`);

  const next = basename(templateDirectory) === "stack" ? "stack-next" : "stack";
  const assembly = await synthesize(join(dirname(templateDirectory), next), { stage, signal });
  if (await isSameStack(templateDirectory, assembly)) return undefined;
  // Report what the local run does not support now, while the current stack is still served.
  await readStack(assembly);
  return assembly;
}

/** Yields whenever sources have changed and then stayed unchanged for the quiet time. */
async function* watchSources(): AsyncGenerator<Change> {
  const watcher = watch(sources, { cwd: root, ignored, ignoreInitial: true });
  let next = Promise.withResolvers<string>();
  let controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  watcher.on("error", (error) => console.error(`[watch] Changes may be missed: ${errorMessage(error)}.`));
  watcher.on("all", (_event, file) => {
    controller.abort();
    clearTimeout(timer);
    timer = setTimeout(() => next.resolve(file), quietTime);
  });
  for (;;) {
    const file = await next.promise;
    next = Promise.withResolvers();
    controller = new AbortController();
    yield { file, signal: controller.signal };
  }
}
