import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterAll, expect, test, vi } from "vitest";
import { listening } from "../support/listening.ts";

let attempts = 0;

let onAttempt = () => {};

/** A table that accepts every request and never responds. */
const server = createServer(() => {
  attempts++;
  onAttempt();
});
afterAll(() => server.closeAllConnections());

vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", await listening(server));
vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");

test("does not retry a call after the environment was frozen and thawed", async () => {
  // Imported here because the client reads its endpoint from the environment.
  const { call } = await import("../support/call.ts");
  // The invocation ends while its first attempt is in progress, and the next one begins a minute later.
  onAttempt = () => vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });
  expect((await call("create-lead", { body: { name: "Ada" } }, 600)).status).toBe(503);
  await expect.poll(() => attempts).toBe(1);
  await setTimeout(1500);
  expect(attempts).toBe(1);
});

test.each([
  [1500, 2],
  [1501, 1],
])("a call whose first attempt fails after %i ms makes %i in all: none later than 1.5 s", async (age, count) => {
  const { call } = await import("../support/call.ts");
  const { table } = await import("../../shared/dynamodb/table-client.ts");
  const start = Date.now();
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
  const handle = vi.spyOn(table.config.requestHandler, "handle").mockImplementation(async () => {
    vi.setSystemTime(start + age);
    throw Object.assign(new Error("timeout"), { name: "TimeoutError" });
  });
  expect((await call("create-lead", { body: { name: "Ada" } })).status).toBe(503);
  expect(handle).toHaveBeenCalledTimes(count);
});

test("every write lands before its row may be counted, although a connection may take a second, too", async () => {
  const { table } = await import("../../shared/dynamodb/table-client.ts");
  const { limits } = await import("../../shared/pages/tree/tree-limits.ts");
  const { requestHandler } = table.config;
  // It reads its settings with its first request.
  await requestHandler.handle({} as never, { abortSignal: AbortSignal.abort() }).catch(() => {});
  const handler = requestHandler as NodeHttpHandler;
  const { connectionTimeout = 0, requestTimeout = 0, throwOnRequestTimeout } = handler.httpHandlerConfigs();
  // Only an address that drops packets could show the first one.
  expect([connectionTimeout, requestTimeout, throwOnRequestTimeout]).toEqual([1000, 1000, true]);
  expect(1500 + connectionTimeout + requestTimeout).toBeLessThan(limits.allowedLateness);
});
