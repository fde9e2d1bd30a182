import { beforeEach, describe, expect, test, vi } from "vitest";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { canceled } from "../../support/tables/cancellation.ts";

const start = Date.parse("2026-01-01T00:00:00.000Z");
let random = vi.spyOn(Math, "random");
let delays: readonly number[];
beforeEach(() => {
  delays = stopClock(start);
  random = vi.spyOn(Math, "random").mockReturnValue(0.5);
});

/** An attempt that fails with these errors in turn, and then succeeds. */
function failing(...errors: unknown[]) {
  const attempt = vi.fn(async () => "done");
  for (const error of errors) attempt.mockRejectedValueOnce(error);
  return attempt;
}

const conflict = canceled("None", "TransactionConflict");
const isRetryable = (error: unknown) => error === conflict;
const farDeadline = start + 60_000;

describe("an attempt", () => {
  test("is retried after random parts of delays that double up to half a second", async () => {
    const attempt = failing(...Array(8).fill(conflict));
    expect(await withRetry(attempt, { deadline: farDeadline, isRetryable })).toBe("done");
    expect(attempt).toHaveBeenCalledTimes(9);
    expect(delays).toEqual([10, 20, 40, 80, 160, 250, 250, 250]);
  });

  test("is retried after no delay at the least and the whole delay at the most", async () => {
    random.mockReturnValueOnce(0).mockReturnValueOnce(0.999);
    await withRetry(failing(conflict, conflict), { deadline: farDeadline, isRetryable });
    expect(delays).toEqual([0, 39.96]);
  });
});

describe("the deadline", () => {
  test.each([
    ["allows a delay that ends just before it", 71, 4, [10, 20, 40]],
    ["allows no delay that reaches it", 70, 3, [10, 20]],
    ["that has passed allows one attempt", -1, 1, []],
  ])("%s", async (_, milliseconds, attempts, expected) => {
    const attempt = failing(...Array(9).fill(conflict));
    await expect(withRetry(attempt, { deadline: start + milliseconds, isRetryable })).rejects.toBe(conflict);
    expect(attempt).toHaveBeenCalledTimes(attempts);
    expect(delays).toEqual(expected);
  });
});
