import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { watch } from "chokidar";
import { errorMessage, UserError } from "../errors.ts";
import { callAfresh } from "./child-process.ts";
import type { LocalRun } from "./local-run.ts";
import { synthesize } from "./synthesize.ts";
import { isSameStack, readStack } from "./template/template.ts";

const root = join(import.meta.dirname, "..", "..");

/** What functions and stack are made of. */
const sources = ["functions", "shared", "lib", "cdk.json"];

/** What is in neither; this process has loaded the local run and cannot load it anew. */
const ignored = ["lib/local", "lib/ops"].map((path) => join(root, path));

/** How long no file may change before all are read, in milliseconds: editors and git write several at once. */
const settled = 100;

/** Ends a run, and starts another that serves the cloud assembly. */
type Restart = (run: LocalRun, templateDirectory: string) => Promise<LocalRun>;

interface Change {
  /** The last of the files that changed, from the root. */
  readonly file: string;
  /** Comes with the next change. */
  readonly signal: AbortSignal;
}

/**
 * Brings changed sources to a run: new code of the functions at once; another stack, which takes seconds to
 * synthesize, by a new start. What cannot be built is told, and what ran before goes on.
 *
 * @param first what serves at first; its cloud assembly is in a directory that is its own
 * @throws UserError when a new start fails
 */
export async function serveChanges(first: LocalRun, restart: Restart): Promise<void> {
  let run = first;
  /** Where the next bundles go, then where those that serve are: what is broken must not replace them. */
  const places = ["bundles-0", "bundles-1"];
  for await (const change of changes()) {
    const assembly = await build(change, places, run).catch((error: unknown) => {
      if (error instanceof UserError) console.error(`[watch] ${error.message}`);
      else if (!change.signal.aborted) throw error;
    });
    if (assembly === undefined) continue;
    console.log("[watch] The stack is another: starting again …");
    run = await restart(run, assembly);
    console.log("[watch] Serving the other stack.");
  }
}

/** Has the run serve new code. @returns the cloud assembly to start again with, if the stack is another */
async function build(
  { file, signal }: Change,
  places: string[],
  { templateDirectory, reload }: LocalRun,
): Promise<string | undefined> {
  const began = performance.now();
  const bundles = join(dirname(templateDirectory), places[0] ?? "");
  await rm(bundles, { recursive: true, force: true });
  const module = new URL("../bundling/bundle.ts", import.meta.url);
  await callAfresh([module, "bundleFunctions", bundles], { failure: `After a change of ${file}` });
  reload(bundles);
  places.reverse();
  console.log(`[watch] ${file} changed: new code after ${Math.round(performance.now() - began)} ms.`);

  const other = basename(templateDirectory) === "stack" ? "stack-next" : "stack";
  const assembly = await synthesize(join(dirname(templateDirectory), other), { bundles, signal });
  if (await isSameStack(templateDirectory, assembly)) return undefined;
  // What the local run cannot serve is told now, while the other still serves.
  await readStack(assembly);
  return assembly;
}

/** Every time that sources have changed and settled. */
async function* changes(): AsyncGenerator<Change> {
  const watcher = watch(sources, { cwd: root, ignored, ignoreInitial: true });
  let next = Promise.withResolvers<string>();
  let controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  watcher.on("error", (error) => console.error(`[watch] Changes may be missed: ${errorMessage(error)}.`));
  watcher.on("all", (_event, file) => {
    controller.abort();
    clearTimeout(timer);
    timer = setTimeout(() => next.resolve(file), settled);
  });
  for (;;) {
    const file = await next.promise;
    next = Promise.withResolvers();
    controller = new AbortController();
    yield { file, signal: controller.signal };
  }
}
