import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { UserError } from "../../../lib/errors.ts";
import { callInChildProcess, runNode } from "../../../lib/local/child-process.ts";
import { temporaryDirectory } from "./support/stack.ts";

const failure = "It failed";
const evaluate = (script: string, options: Partial<Parameters<typeof runNode>[1]> = {}) =>
  runNode(["--eval", script], { failure, ...options });

async function writeModule(source: string): Promise<URL> {
  const file = join(await temporaryDirectory(), "probe.ts");
  await writeFile(file, source);
  return pathToFileURL(file);
}

test("a child process has the variables that it is given beside those of this process", async () => {
  const output = await evaluate("console.log(process.env.PROBE, process.env.PATH)", {
    env: { PROBE: "yes" },
  });
  expect(output).toBe(`yes ${process.env.PATH}\n`);
});

test("an exported function is called with its arguments, in the module's current source", async () => {
  const module = await writeModule("export const double = async (n: number) => [2 * n];");
  expect(await callInChildProcess([module, "double", 4], { failure })).toEqual([8]);
  await writeFile(module, "export const double = (n: number) => ({ doubled: 2 * n });");
  expect(await callInChildProcess([module, "double", 4], { failure })).toEqual({ doubled: 8 });
});

test.each([
  ["a syntax error", "export const probe =\n;", /^It failed: .+\/probe\.ts:2: Expression expected$/],
  [
    "an error while the module is loaded",
    "\n\nnull.x;\nexport const probe = 1;",
    /^It failed: .+\/probe\.ts:3: Cannot read properties of null/,
  ],
  [
    "an error of the function",
    "export function probe() {\n  throw new TypeError('on purpose'); }",
    /probe\.ts:2: on purpose$/,
  ],
  [
    "a missing import",
    'import "./nowhere.ts";',
    /^It failed: Cannot find module '.+nowhere\.ts' imported from .+$/,
  ],
])("%s is a UserError of one sentence", async (_, source, message) => {
  const result = callInChildProcess([await writeModule(source), "probe"], { failure });
  await expect(result).rejects.toThrow(UserError);
  await expect(result).rejects.toThrow(message);
});

test("a build error has the file and the line that esbuild reports", async () => {
  const script =
    "console.error('Build failed with 1 error:\\na/b.ts:34:5: ERROR: Unexpected x'); process.exit(1)";
  await expect(evaluate(script)).rejects.toThrow(/^It failed: a\/b\.ts:34: Unexpected x$/);
});

test("any other error output is passed on whole", async () => {
  const script = "console.error('finding 1\\nfinding 2'); process.exit(1)";
  await expect(evaluate(script)).rejects.toThrow(/^It failed: finding 1\nfinding 2$/);
});

test("an error's message is passed on with all its lines", async () => {
  const module = await writeModule("export function probe() {\n  throw new Error('errors:\\n  a\\n  b'); }");
  const result = callInChildProcess([module, "probe"], { failure });
  await expect(result).rejects.toThrow(/probe\.ts:2: errors:\n {2}a\n {2}b$/);
});

test("a process that ends without an error message is reported by its exit code or signal", async () => {
  await expect(evaluate("process.exit(3)")).rejects.toThrow(/^It failed: the process ended with 3$/);
  const killed = evaluate("process.kill(process.pid, 'SIGKILL')");
  await expect(killed).rejects.toThrow(/^It failed: the process ended with SIGKILL$/);
});

test("what a module prints does not become part of the result", async () => {
  const module = await writeModule("process.stdout.write('while loading'); export const probe = () => 1;");
  expect(await callInChildProcess([module, "probe"], { failure })).toBe(1);
});

test("an abort ends the child process", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const result = evaluate("setInterval(() => {}, 1000)", { signal });
  setTimeout(() => controller.abort(new Error("on purpose")), 100);
  await expect(result).rejects.toThrow("on purpose");
  await expect(evaluate("", { signal })).rejects.toThrow("on purpose");
});
