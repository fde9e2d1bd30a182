import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../../../lib/errors.ts";
import { runNode } from "../../../lib/local/synthesize.ts";
import { temporaryDirectory } from "./support/stack.ts";

const evaluate = (script: string, env?: Record<string, string>) => runNode(["--eval", script], env);

test("a child process has the variables that it is given beside those of this process", async () => {
  const script = "if (process.env.PROBE !== 'yes' || !process.env.PATH) process.exit(1)";
  await evaluate(script, { PROBE: "yes" });
});

test.each([
  [
    "a syntax error",
    "export const probe =\n;",
    /^The stack cannot be synthesized: .+\/probe\.ts:2: Expression expected$/,
  ],
  ["an error while the module is loaded", "\n\nnull.x;", /: .+\/probe\.ts:3: Cannot read properties of null/],
  [
    "an error of a function",
    "probe();\nfunction probe() {\n  throw new TypeError('on purpose'); }",
    /probe\.ts:3: on purpose$/,
  ],
  [
    "a missing import",
    'import "./nowhere.ts";',
    /^The stack cannot be synthesized: Cannot find module '.+nowhere\.ts' imported from .+$/,
  ],
  [
    "a message of several lines",
    "\nthrow new Error('errors:\\n  a\\n  b');",
    /probe\.ts:2: errors:\n {2}a\n {2}b$/,
  ],
])("%s is a UserError of one sentence", async (_, source, message) => {
  const file = join(await temporaryDirectory(), "probe.ts");
  await writeFile(file, source);
  const result = runNode([file]);
  await expect(result).rejects.toThrow(UserError);
  await expect(result).rejects.toThrow(message);
});

test("a build error has the file and the line that esbuild reports", async () => {
  const script =
    "console.error('Build failed with 1 error:\\na/b.ts:34:5: ERROR: Unexpected x'); process.exit(1)";
  await expect(evaluate(script)).rejects.toThrow(/: a\/b\.ts:34: Unexpected x$/);
});

test("any other error output is passed on whole", async () => {
  const script = "console.error('finding 1\\nfinding 2'); process.exit(1)";
  await expect(evaluate(script)).rejects.toThrow(/: finding 1\nfinding 2$/);
});

test("a process that ends without an error message is reported by its exit code or signal", async () => {
  await expect(evaluate("process.exit(3)")).rejects.toThrow(/: the process ended with 3$/);
  const killed = evaluate("process.kill(process.pid, 'SIGKILL')");
  await expect(killed).rejects.toThrow(/: the process ended with SIGKILL$/);
});
