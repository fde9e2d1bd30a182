import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { run } from "../../../../lib/command-line.ts";
import { runProgram } from "../../../../lib/ops/program.ts";

/** Runs `npm run ops -- …` in this process, on a terminal. @returns its exit code, and what it printed */
export async function program(...args: string[]) {
  const [stdout, stderr] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()];
  const terminal = vi.spyOn(process, "stdout", "get").mockReturnValue(stdout as never);
  const { console: ownConsole } = globalThis;
  const { argv, exitCode } = process;
  globalThis.console = new Console({ stdout, stderr });
  process.argv = [...argv.slice(0, 2), ...args];
  process.exitCode = 0;
  try {
    await run(runProgram);
    const code = Number(process.exitCode);
    stdout.end();
    stderr.end();
    return { code, stdout: await text(stdout), stderr: await text(stderr) };
  } finally {
    terminal.mockRestore();
    globalThis.console = ownConsole;
    process.argv = argv;
    process.exitCode = exitCode;
  }
}
