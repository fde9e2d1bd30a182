import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { UserError } from "../errors.ts";

const root = join(import.meta.dirname, "../..");

interface Options {
  /** What the message of an error begins with. */
  readonly failure: string;
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the child process. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs Node.js in a child process, which loads the current sources and frees its memory at its end.
 *
 * @returns the output
 * @throws UserError with the file, the line and the message of the error that ended the process
 */
export async function runNode(args: readonly string[], { failure, env, signal }: Options): Promise<string> {
  signal?.throwIfAborted();
  // In a process group of its own, so that a Ctrl-C ends it with this process and not before.
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  signal?.addEventListener("abort", kill, { once: true });
  const [[code, killedBy], output, errors] = await Promise.all([
    once(child, "close"),
    text(child.stdout),
    text(child.stderr),
  ]);
  process.off("exit", kill);
  signal?.throwIfAborted();
  if (code === 0) return output;
  throw new UserError(`${failure}: ${describeError(errors) || `the process ended with ${code ?? killedBy}`}`);
}

/** Calls an exported function of a module in such a process; its arguments and its result must be JSON. */
export async function callInChildProcess(
  [module, name, ...args]: readonly [module: URL, name: string, ...args: unknown[]],
  options: Options,
): Promise<unknown> {
  const script = `import { ${name} } from "${module}";
    console.log("\\n" + JSON.stringify(await ${name}(...${JSON.stringify(args)})));`;
  const output = await runNode(["--input-type=module", "--eval", script], options);
  // The lines before the last one are what the module has printed.
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as unknown;
}

/** Shortens the errors of esbuild and uncaught errors to their message, with file and line if they have them. */
function describeError(errors: string): string {
  const [, place, buildError] = /^(\S+:\d+):\d+: ERROR: (.+)$/m.exec(errors) ?? [];
  if (place !== undefined) return `${place}: ${buildError}`;
  const [, uncaught] = /^\w*Error(?: \[\w+\])?: (.+?)\n+(?: {4}at .+)?^Node\.js v/ms.exec(errors) ?? [];
  if (uncaught === undefined) return errors.trim();
  const [, file, line] = /^(?:file:\/\/)?(\/.+):(\d+)$/m.exec(errors) ?? [];
  return file === undefined ? uncaught : `${relative(root, file)}:${line}: ${uncaught}`;
}
