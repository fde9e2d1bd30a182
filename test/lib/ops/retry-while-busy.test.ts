import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { retryWhileBusy } from "../../../lib/ops/retry-while-busy.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 0 }));
afterEach(() => void vi.useRealTimers());

/** A wait that moves the clock. */
const wait = async (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds);

const failing = (name: string) => () => Promise.reject(Object.assign(new Error("failed"), { name }));

test.each([
  "ThrottlingException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "TimeoutError",
])("a call that fails with %s is retried for a minute", async (name) => {
  await expect(retryWhileBusy(failing(name), wait)).rejects.toThrow("failed");
  expect(Date.now()).toBeGreaterThan(59_000);
  expect(Date.now()).toBeLessThanOrEqual(60_000);
});

test("a call that succeeds after half a minute has its result", async () => {
  const call = () => (Date.now() < 30_000 ? failing("ThrottlingException")() : Promise.resolve("done"));
  expect(await retryWhileBusy(call, wait)).toBe("done");
});

test.each([
  "AccessDeniedException",
  "ValidationException",
  "TypeError",
])("a call that fails with %s is not retried", async (name) => {
  await expect(retryWhileBusy(failing(name), wait)).rejects.toThrow("failed");
  expect(Date.now()).toBe(0);
});
