import { expect, onTestFinished, test } from "vitest";
import { createFunctionPool } from "../../lib/local/lambda/function-pool.ts";
import { createFunction } from "../lib/local/support/stack.ts";
import { Canaries } from "./canaries.ts";
import { leaksIn } from "./leaks.ts";

/** Lines that a function logs, or has logged of it, when it is called with a text, and the search's findings in them. */
async function search(body: string, { timeout = 3000 } = {}) {
  const canaries = new Canaries();
  const fn = await createFunction(`exports.handler = async ({ text }) => { ${body} };`, { timeout });
  const log: string[] = [];
  const pool = createFunctionPool(fn, { variables: {}, maxEnvironments: 1, log: (line) => log.push(line) });
  onTestFinished(() => pool.close());
  const payload = JSON.stringify({ text: canaries.text("field") });
  const failed = await pool.invoke(payload).then(
    () => false,
    () => true,
  );
  return { failed, log, found: () => leaksIn(log, canaries.needles) };
}

const inError = "Object.assign(new Error(text), { name: 'ValidationException' })";

test.each([
  ["console.log", "console.log('a', text)"],
  ["an object on console.info", "console.info({ event: 'x', deep: [{ text }] })"],
  ["an error on console.error", `console.error(${inError})`],
  ["a property of an error", "console.error(Object.assign(new Error('x'), { Item: { name: { S: text } } }))"],
  ["the cause of an error", `console.error(new Error('x', { cause: ${inError} }))`],
  ["console.debug and console.trace", "console.debug(text); console.trace(text)"],
  ["stdout itself", "process.stdout.write(text + '\\n')"],
  ["stderr itself", "process.stderr.write(text + '\\n')"],
  ["a warning of the process", "process.emitWarning(text)"],
  [
    "a piece that JSON.parse quotes",
    "try { JSON.parse(text) } catch (error) { console.error(error.message) }",
  ],
  ["base64", "console.log(Buffer.from('ab' + text + 'c').toString('base64'))"],
  ["bytes", "console.log(Buffer.from(text))"],
  ["a typed array", "console.log(new Uint8Array(Buffer.from(text)))"],
  ["hexadecimal", "console.log(Buffer.from(text).toString('hex'))"],
])("the search finds what a function logs by %s", async (_, body) => {
  const { failed, found } = await search(`${body};`);
  expect(failed).toBe(false);
  await expect.poll(found).not.toEqual([]);
});

test.each([
  ["throws", `throw ${inError};`],
  [
    "throws in a property",
    "throw Object.assign(new Error('x'), { CancellationReasons: [{ Message: text }] });",
  ],
  ["leaves a promise rejected", `Promise.reject(${inError}); await new Promise(() => {});`],
  ["throws where nobody waits", `setImmediate(() => { throw ${inError}; }); await new Promise(() => {});`],
  ["logs before it takes too long", "console.log(text); await new Promise(() => {});"],
  [
    "logs before it ends",
    "console.log(text); setTimeout(() => process.exit(1), 50); await new Promise(() => {});",
  ],
])("the search finds what is logged of a function that %s", async (_, body) => {
  const { failed, found } = await search(body, { timeout: 500 });
  expect(failed).toBe(true);
  await expect.poll(found).not.toEqual([]);
});

test("the search finds nothing where nothing is", async () => {
  const { log, found } = await search("console.log('a line', text.length);");
  await expect.poll(() => log.length).toBe(2);
  expect(found()).toEqual([]);
});
