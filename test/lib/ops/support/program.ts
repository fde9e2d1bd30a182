import { Console } from "node:console";
import { PassThrough, Readable, Writable } from "node:stream";
import { vi } from "vitest";
import { run } from "../../../../lib/command-line.ts";
import { runProgram } from "../../../../lib/ops/program.ts";
import { selectTable, tableName } from "../../../../shared/dynamodb/table-client.ts";

/**
 * Runs `npm run ops -- …` in this process, as `bin/ops.ts` does, and selects the test's own table again.
 *
 * @param env variables that are added to those of this process; undefined removes one
 * @param input what the command reads from stdin
 */
export async function program(args: readonly string[], { env = {} as NodeJS.ProcessEnv, input = "" } = {}) {
  const own = tableName;
  const printed = { stdout: "", stderr: "" };
  let code: number | undefined;
  const collect = (name: keyof typeof printed) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _, done) {
        // Nothing is printed after `process.exit()`.
        if (code === undefined) printed[name] += chunk;
        done();
      },
    });
  const stdout = collect("stdout");
  const stderr = collect("stderr");
  const stdin = Readable.from([input]).pipe(new PassThrough());
  const streams = Object.entries({ stdin, stdout, stderr }).map(([name, stream]) =>
    vi.spyOn(process, name as "stdin", "get").mockReturnValue(stream as never),
  );
  const exit = vi.spyOn(process, "exit").mockImplementation((exitCode) => {
    code ??= Number(exitCode ?? process.exitCode);
    throw new Error("The command has ended.");
  });
  const { console: ownConsole } = globalThis;
  const { argv, exitCode, env: ownEnv } = process;
  globalThis.console = new Console({ stdout, stderr });
  process.argv = [...argv.slice(0, 2), ...args];
  process.env = { ...ownEnv, ...env };
  for (const [name, value] of Object.entries(env)) if (value === undefined) delete process.env[name];
  process.exitCode = 0;
  try {
    await run(runProgram);
    return { code: code ?? Number(process.exitCode), ...printed };
  } finally {
    for (const spy of [...streams, exit]) spy.mockRestore();
    globalThis.console = ownConsole;
    Object.assign(process, { argv, exitCode, env: ownEnv });
    // With the settings of the functions' client.
    selectTable(own, { maxAttempts: 2 });
  }
}
