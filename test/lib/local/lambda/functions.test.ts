import { mkdir, writeFile } from "node:fs/promises";
import inspector from "node:inspector";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFunctionPool } from "../../../../lib/local/lambda/function-pool.ts";
import type { LocalFunction } from "../../../../lib/local/template/functions.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { createFunction } from "../support/stack.ts";

async function createPool(
  source: string,
  {
    maxEnvironments = 4,
    verbose = true,
    variables = {},
    ...settings
  }: Partial<LocalFunction & Parameters<typeof createFunctionPool>[1]> = {},
) {
  const log: string[] = [];
  const fn = await createFunction(source, settings);
  const options = { variables, maxEnvironments, verbose, log: (line: string) => log.push(line) };
  const pool = createFunctionPool(fn, options);
  onTestFinished(() => pool.close());
  return { log, call: (event: unknown = {}) => pool.invoke(JSON.stringify(event)) };
}

const handler = (body: string) => `exports.handler = async (event, context) => { ${body} };`;

test("the handler gets the event and Lambda's context", async () => {
  const source = handler("return { ...context, event, left: context.getRemainingTimeInMillis() };");
  const { call } = await createPool(source);
  const { left, ...others } = (await call({ a: 1 })) as { readonly left: number };
  const awsRequestId = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(others).toEqual({ event: { a: 1 }, functionName: "Probe", awsRequestId });
  expect(left).toBeGreaterThan(30_000);
  expect(left).toBeLessThanOrEqual(60_000);
});

const counting = `
  const { threadId } = require("node:worker_threads");
  let running = 0, served = 0;
  exports.handler = async ({ wait = 0 }) => {
    const most = ++running;
    await new Promise((resolve) => setTimeout(resolve, wait));
    running -= 1;
    return { threadId, most, served: ++served };
  };`;

interface Count {
  readonly threadId: number;
  /** How many requests the environment served at the same time. */
  readonly most: number;
  readonly served: number;
}

test("requests beyond the maximum wait for an environment, and the environment that was used last is reused first", async () => {
  const { call } = await createPool(counting, { maxEnvironments: 2 });
  const responses = (await Promise.all(Array.from({ length: 12 }, () => call({ wait: 10 })))) as Count[];
  expect(new Set(responses.map(({ threadId }) => threadId)).size).toBe(2);
  expect(responses.every(({ most }) => most === 1)).toBe(true);
  await Promise.all([call(), call({ wait: 50 })]);
  const first = (await call()) as Count;
  expect(await call()).toMatchObject({ threadId: first.threadId, served: first.served + 1 });
});

test.each<[string, string, string, Partial<LocalFunction>?]>([
  ["throws", handler("throw new Error('on purpose')"), "on purpose"],
  ["exits", handler("process.exit(3)"), "ended by itself with code 3"],
  [
    "throws outside its handler's promise",
    handler("setTimeout(() => { throw new Error('later') }); await new Promise(() => {})"),
    "later",
  ],
  [
    "leaves a rejection unhandled",
    handler("Promise.reject(new Error('forgotten')); await new Promise(() => {})"),
    "forgotten",
  ],
  ["loops forever", handler("for (;;);"), "timed out after 0.1 s", { timeout: 100 }],
  [
    "fills its memory",
    handler("const all = []; for (;;) all.push(new Array(1000).fill(0.5));"),
    "reaching memory limit",
    { memorySize: 16 },
  ],
  ["returns a value that is not JSON", handler("return { a: 1n }"), "BigInt"],
  ["is not JavaScript", "exports.handler = (", "SyntaxError"],
  ["has no handler", "exports.other = 1", "index.handler is undefined or not exported"],
  ["has no module", handler(""), "Cannot find module", { handler: "nowhere.handler" }],
])("a function that %s fails the request and logs the cause", async (_, source, reason, settings = {}) => {
  const { call, log } = await createPool(source, settings);
  await expect(call()).rejects.toThrow("The function probe failed.");
  expect(log.join("\n")).toContain(reason);
  expect(log.every((line) => line.startsWith("[probe] "))).toBe(true);
});

test("the stack frames of an error name the source files, each on its own line", async () => {
  const root = await temporaryDirectory();
  await mkdir(join(root, "asset"));
  await mkdir(join(root, "bundles/probe"), { recursive: true });
  const map = { version: 3, sources: ["../../probe.ts"], names: [], mappings: "AAAA" };
  await writeFile(join(root, "bundles/probe/index.cjs.map"), JSON.stringify(map));
  const source = handler("console.error({ stack: new Error().stack }); throw new Error('on purpose')");
  await writeFile(join(root, "asset/index.cjs"), source);
  const { call, log } = await createPool("", { codeDirectory: join(root, "asset") });
  await expect(call()).rejects.toThrow("The function probe failed.");
  const frame = expect.stringContaining(`${join(root, "probe.ts")}:1:1`);
  await expect.poll(() => log.filter((line) => / at .*probe\.ts:/.test(line))).toEqual([frame, frame]);
});

test("unless it is verbose, the log has only warnings and errors, without the stack frames of libraries", async () => {
  const directory = join(await temporaryDirectory(), "node_modules/library");
  await mkdir(directory, { recursive: true });
  const library = join(directory, "index.cjs");
  await writeFile(library, "exports.fail = (run) => run();");
  const failing = `require(${JSON.stringify(library)}).fail(() => { throw new Error('on purpose'); })`;
  const source = handler(
    `try { ${failing} } catch ({ stack }) { console.info('printed'); console.error({ stack }); } ${failing}`,
  );
  const { call, log } = await createPool(source, { verbose: false });
  await expect(call()).rejects.toThrow("The function probe failed.");
  await expect.poll(() => log.filter((line) => line.includes("on purpose"))).toHaveLength(2);
  expect(log.filter((line) => / at .*index\.cjs:/.test(line))).toHaveLength(4);
  expect(log.join("\n")).not.toMatch(/printed|node_modules|node:|worker\.ts/);
});

test("a debugger may stop a function for longer than its time limit", async () => {
  inspector.open(0);
  onTestFinished(() => inspector.close());
  const { call } = await createPool(handler("await new Promise((r) => setTimeout(r, 200)); return 'late'"), {
    timeout: 100,
  });
  expect(await call()).toBe("late");
});

test("a function that does not load within ten seconds fails the request", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { call, log } = await createPool("for (;;);");
  const failing = call().catch(() => {});
  await vi.advanceTimersByTimeAsync(9999);
  expect(log.join()).not.toContain("failed");
  await vi.advanceTimersByTimeAsync(1);
  await failing;
  expect(log.at(-1)).toMatch(/^\[probe\] The request .* failed: did not load after 10 s$/);
});

test("after a crash or a timeout the next request, even a waiting one, gets a new environment", async () => {
  const crashing = `
    let served = 0;
    exports.handler = async ({ crash, hang }) => {
      if (crash) process.exit(1);
      if (hang) console.log("hanging");
      if (hang) await new Promise(() => {});
      return ++served;
    };`;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { call, log } = await createPool(crashing, { maxEnvironments: 1 });
  const calls = Promise.allSettled([
    ...[call(), call(), call({ crash: true })],
    ...[call(), call(), call({ hang: true }), call()],
  ]);
  await expect.poll(() => log).toContain("[probe] hanging");
  await vi.advanceTimersByTimeAsync(60_000);
  const outcomes = await calls;
  expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "failed"))).toEqual([
    ...[1, 2, "failed"],
    ...[1, 2, "failed", 1],
  ]);
  // Now without a waiting request.
  await expect(call({ crash: true })).rejects.toThrow("The function probe failed.");
  expect(await call()).toBe(1);
});

test("output of the function is logged under its name, each object on one line", async () => {
  const { call, log } = await createPool(
    handler(
      "console.info({ message: 'x'.repeat(90), nested: { deep: { deeper: [1, 2] } } }); console.error('bad')",
    ),
  );
  await call();
  await expect
    .poll(() => log)
    .toEqual(
      expect.arrayContaining([expect.stringMatching(/^\[probe\] \{.*x{90}.*deeper.*\}$/), "[probe] bad"]),
    );
});

test("a function gets Lambda's variables, its own ones and its access key, but no variables of the developer", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "HOME", "NODE_OPTIONS"])
    vi.stubEnv(name, "");
  const { call } = await createPool(handler("return { ...process.env }"), {
    environment: { TABLE_NAME: "probes" },
    variables: { AWS_ACCESS_KEY_ID: "key of Probe", LOG_ERROR_MESSAGES: "true" },
  });
  expect(await call()).toEqual({
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_LAMBDA_FUNCTION_NAME: "Probe",
    AWS_REGION: "local",
    AWS_ACCESS_KEY_ID: "key of Probe",
    AWS_SECRET_ACCESS_KEY: "local",
    TZ: ":UTC",
    TABLE_NAME: "probes",
    LOG_ERROR_MESSAGES: "true",
    _X_AMZN_TRACE_ID: "",
  });
});
