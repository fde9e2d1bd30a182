import { expect, onTestFinished, test, vi } from "vitest";
import { FunctionPool } from "../../lib/local/lambda/function-pool.ts";
import { createFunction } from "../lib/local/support/stack.ts";
import { Canaries } from "./canaries.ts";
import { expectNothingSentIn, findLeaks } from "./leaks.ts";
import { noteSent } from "./sent.ts";

/** Invokes a function with a text; returns what was logged and the leaks found in it. */
async function search(body: string, { timeout = 3000 } = {}) {
  const canaries = new Canaries();
  const fn = await createFunction(`exports.handler = async ({ text }) => { ${body} };`, { timeout });
  const log: string[] = [];
  const pool = new FunctionPool(fn, { variables: {}, maxEnvironments: 1, log: (line) => log.push(line) });
  onTestFinished(() => pool.close());
  const payload = JSON.stringify({ text: canaries.text("field") });
  const failed = await pool.invoke(payload).then(
    () => false,
    () => true,
  );
  return { failed, log, found: () => findLeaks(log, canaries.needles) };
}

const inError = "Object.assign(new Error(text), { name: 'ValidationException' })";

test.each([
  ["console.log", "console.log('a', text)"],
  ["an object on console.info", "console.info({ event: 'x', deep: [{ text }] })"],
  ["an error on console.error", `console.error(${inError})`],
  ["a property of an error", "console.error(Object.assign(new Error('x'), { Item: { name: { S: text } } }))"],
  ["the cause of an error", `console.error(new Error('x', { cause: ${inError} }))`],
  ["console.debug and console.trace", "console.debug(text); console.trace(text)"],
  ["writing to stdout", "process.stdout.write(text + '\\n')"],
  ["writing to stderr", "process.stderr.write(text + '\\n')"],
  ["a process warning", "process.emitWarning(text)"],
  [
    "the fragment that JSON.parse quotes",
    "try { JSON.parse(text) } catch (error) { console.error(error.message) }",
  ],
  ["base64", "console.log(Buffer.from('ab' + text + 'c').toString('base64'))"],
  ["bytes", "console.log(Buffer.from(text))"],
  ["a typed array", "console.log(new Uint8Array(Buffer.from(text)))"],
  ["hexadecimal", "console.log(Buffer.from(text).toString('hex'))"],
])("finds what a function logs by %s", async (_, body) => {
  const { failed, found } = await search(`${body};`);
  expect(failed).toBe(false);
  await expect.poll(found).not.toEqual([]);
});

test.each([
  ["throws", `throw ${inError};`],
  [
    "throws an error with a property",
    "throw Object.assign(new Error('x'), { CancellationReasons: [{ Message: text }] });",
  ],
  ["leaves a rejected promise unhandled", `Promise.reject(${inError}); await new Promise(() => {});`],
  ["throws in a callback", `setImmediate(() => { throw ${inError}; }); await new Promise(() => {});`],
  ["logs before it times out", "console.log(text); await new Promise(() => {});"],
  [
    "logs before it exits",
    "console.log(text); setTimeout(() => process.exit(1), 50); await new Promise(() => {});",
  ],
])("finds what is logged for a function that %s", async (_, body) => {
  const { failed, found } = await search(body, { timeout: 500 });
  expect(failed).toBe(true);
  await expect.poll(found).not.toEqual([]);
});

test("finds nothing when the text is not logged", async () => {
  const { log, found } = await search("console.log('a line', text.length);");
  await expect.poll(() => log.length).toBe(2);
  expect(found()).toEqual([]);
});

test("the check names the text, the line and the way to switch it off, which works outside CI alone", () => {
  vi.stubEnv("ALLOW_LOG_LEAKS", "");
  vi.stubEnv("CI", "");
  noteSent({ name: "Grace Hopper" });
  const check = () => expectNothingSentIn(["started", "created Grace Hopper"]);
  expect(check).toThrow(
    /sent: {3}"Grace Hopper"\n {2}logged: created Grace Hopper\n(.|\n)*ALLOW_LOG_LEAKS=1/,
  );
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("ALLOW_LOG_LEAKS", "1");
  expect(check).not.toThrow();
  vi.stubEnv("CI", "true");
  expect(check).toThrow(/Grace Hopper/);
});
