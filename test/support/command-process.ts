/**
 * Runs commands of operators one after the other, each as `bin/ops.ts` does, in a process that has loaded their modules:
 * to load them takes longer than most commands of the tests.
 */
import { Console } from "node:console";
import { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { run } from "../../lib/command-line.ts";
import { runProgram } from "../../lib/ops/program.ts";
import { selectTable } from "../../shared/dynamodb/table-client.ts";

/** A command line. */
export interface Call {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** What the command did. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

process.on("message", async (call: Call) => process.send?.(await runCommand(call)));

async function runCommand({ args, env, cwd }: Call): Promise<Outcome> {
  const printed = { stdout: "", stderr: "" };
  let code: number | undefined;
  const collect = (name: keyof typeof printed) => {
    const write = (chunk: Buffer, _: unknown, done: () => void) => {
      // Nothing is printed after `process.exit()`.
      if (code === undefined) printed[name] += chunk;
      done();
    };
    // A command may end the stream.
    const stream = new Writable({ write });
    Object.defineProperty(process, name, { value: stream, configurable: true });
    return stream;
  };
  globalThis.console = new Console({ stdout: collect("stdout"), stderr: collect("stderr") });
  process.exit = (exitCode) => {
    code ??= Number(exitCode ?? process.exitCode);
    throw new Error("The command has ended.");
  };
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  process.env = env;
  process.chdir(cwd);
  process.exitCode = 0;
  selectTable("", {});
  const resources = process.getActiveResourcesInfo().length;
  await run(runProgram);
  // A process of its own would not end before.
  while (process.getActiveResourcesInfo().length > resources) await setTimeout(5);
  return { code: code ?? Number(process.exitCode), ...printed };
}
