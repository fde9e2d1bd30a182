import { beforeEach, expect, test, vi } from "vitest";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";

const start = Date.parse("2026-01-01T00:00:00.000Z");
let random = vi.spyOn(Math, "random");
let delays: readonly number[];
beforeEach(() => {
  delays = stopClock(start);
  random = vi.spyOn(Math, "random").mockReturnValue(0.5);
});

const conflict = new Error("conflict");

/** Repeats an attempt that fails a number of times. @returns its result, and how often it was made */
async function retry(failures: number, deadline = 60_000) {
  const attempt = vi.fn(async () => "done");
  for (let n = 0; n < failures; n++) attempt.mockRejectedValueOnce(conflict);
  const isRetryable = (error: unknown) => error === conflict;
  const result = await withRetry(attempt, { deadline: start + deadline, isRetryable }).catch(
    (error) => error,
  );
  return [result, attempt.mock.calls.length];
}

test("an attempt is retried after random parts of delays that double up to half a second", async () => {
  expect(await retry(8)).toEqual(["done", 9]);
  expect(delays).toEqual([10, 20, 40, 80, 160, 250, 250, 250]);
});

test("an attempt is retried after no delay at the least and the whole delay at the most", async () => {
  random.mockReturnValueOnce(0).mockReturnValueOnce(0.999);
  await retry(2);
  expect(delays).toEqual([0, 39.96]);
});

test.each([
  ["allows a delay that ends just before it", 71, 4, [10, 20, 40]],
  ["allows no delay that reaches it", 70, 3, [10, 20]],
  ["that has passed allows one attempt", -1, 1, []],
])("the deadline %s", async (_, deadline, attempts, expected) => {
  expect(await retry(9, deadline)).toEqual([conflict, attempts]);
  expect(delays).toEqual(expected);
});
