import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** The directory of the tools, which have a lock file of their own. */
export const toolsDirectory = join(import.meta.dirname, "tools");

export interface Outcome {
  readonly ok: boolean;
  /** What the program wrote to its standard output. */
  readonly output: string;
  /** Why it failed: what it wrote, the standard error first. */
  readonly errors: string;
}

interface Options {
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** By default that of the tools. */
  readonly directory?: string;
  /** What the program reads from its standard input. */
  readonly input?: string;
}

/** Runs a program; a failure is an outcome, too. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, directory = toolsDirectory, input = "" }: Options = {},
): Promise<Outcome> {
  const options = { cwd: directory, env: { ...process.env, ...env }, maxBuffer: 50_000_000 };
  try {
    const running = promisify(execFile)(program, args, options);
    running.child.stdin?.end(input);
    return { ok: true, output: (await running).stdout, errors: "" };
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string };
    return { ok: false, output: stdout, errors: stderr + stdout || message };
  }
}

/** Runs the command of an installed tool. */
export const runTool = (name: string, args: readonly string[], options?: Options) =>
  runProgram(process.execPath, [join(toolsDirectory, "node_modules/.bin", name), ...args], options);
