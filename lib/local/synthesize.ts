import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { UserError } from "../errors.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Synthesizes a stage into a directory of its own, as `cdk synth` would, but leaves the CDK's validation of the template and
 * cdk-nag to deployments, because they take more than half of the time.
 *
 * @returns the directory
 */
export async function synthesize(directory: string, stage = "dev"): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await runNode(["bin/app.ts", "--unchecked"], {
    CDK_OUTDIR: directory,
    CDK_CONTEXT_JSON: JSON.stringify({ stage }),
    CDK_VALIDATION: "false",
  });
  return directory;
}

/**
 * Runs a synthesis in a child process, which frees its memory at its end.
 *
 * @param env environment variables beside those of this process
 * @throws UserError with the file, the line and the message of the error that ended the process
 */
export async function runNode(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<void> {
  // In a process group of its own, so that a Ctrl-C ends it with this process and not before.
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  const [[code, killedBy], errors] = await Promise.all([once(child, "close"), text(child.stderr)]);
  process.off("exit", kill);
  if (code === 0) return;
  const reason = describeError(errors) || `the process ended with ${code ?? killedBy}`;
  throw new UserError(`The stack cannot be synthesized: ${reason}`);
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
