import { setTimeout } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { isRetryable, StaleReadError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { ApiError } from "../../../shared/errors.ts";

// A pause takes no time but on the clock.
vi.mock("node:timers/promises", () => ({
  setTimeout: vi.fn(async (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)),
}));
const pauses = () => vi.mocked(setTimeout).mock.calls.map(([milliseconds]) => milliseconds);

const random = vi.spyOn(Math, "random");
vi.useFakeTimers({ toFake: ["Date"] });

const start = Date.parse("2026-01-01T00:00:00.000Z");
beforeEach(() => {
  vi.setSystemTime(start);
  vi.mocked(setTimeout).mockClear();
  random.mockReturnValue(0.5);
});

const canceled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: "canceled",
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

/** An attempt that fails in these ways, one after the other, and then succeeds. */
function failing(...errors: unknown[]) {
  const attempt = vi.fn(async () => "done");
  for (const error of errors) attempt.mockRejectedValueOnce(error);
  return attempt;
}

const conflict = canceled("None", "TransactionConflict");
const longAfter = start + 60_000;

describe("a withRetry attempt", () => {
  test("that succeeds is made once", async () => {
    const attempt = failing();
    expect(await withRetry(attempt, { deadline: longAfter, isRetryable })).toBe("done");
    expect(attempt).toHaveBeenCalledTimes(1);
    expect(pauses()).toEqual([]);
  });

  test("is made again after random parts of pauses that double up to half a second", async () => {
    const attempt = failing(...Array(8).fill(conflict));
    expect(await withRetry(attempt, { deadline: longAfter, isRetryable })).toBe("done");
    expect(attempt).toHaveBeenCalledTimes(9);
    expect(pauses()).toEqual([10, 20, 40, 80, 160, 250, 250, 250]);
  });

  test("is made again at once when chance will have it, and never after more than the whole pause", async () => {
    random.mockReturnValueOnce(0).mockReturnValueOnce(0.999);
    await withRetry(failing(conflict, conflict), { deadline: longAfter, isRetryable });
    expect(pauses()).toEqual([0, 39.96]);
  });

  test.each([
    new StaleReadError(),
    canceled("TransactionConflict"),
    canceled("None", "ThrottlingError"),
    canceled("ProvisionedThroughputExceeded", "None"),
    canceled("ConditionalCheckFailed", "TransactionConflict"),
  ])("is made again after %o", async (error) => {
    const attempt = failing(error);
    expect(await withRetry(attempt, { deadline: longAfter, isRetryable })).toBe("done");
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  test.each([
    canceled("ConditionalCheckFailed", "None"),
    canceled("ValidationError"),
    new TransactionCanceledException({ message: "no reasons", $metadata: {} }),
    Object.assign(new Error("inside"), { name: "ThrottlingException" }),
    new ApiError("lead_not_found", "no lead"),
  ])("is given up at once after %o", async (error) => {
    const attempt = failing(error);
    await expect(withRetry(attempt, { deadline: longAfter, isRetryable })).rejects.toBe(error);
    expect(attempt).toHaveBeenCalledTimes(1);
    expect(pauses()).toEqual([]);
  });
});

describe("the deadline", () => {
  test.each([
    ["allows the pause that ends just before it", 71, 4, [10, 20, 40]],
    ["turns the caller away rather than be reached in a pause", 70, 3, [10, 20]],
    ["that has passed allows one attempt", -1, 1, []],
  ])("%s", async (_, milliseconds, attempts, expected) => {
    const attempt = failing(...Array(9).fill(conflict));
    await expect(withRetry(attempt, { deadline: start + milliseconds, isRetryable })).rejects.toBe(conflict);
    expect(attempt).toHaveBeenCalledTimes(attempts);
    expect(pauses()).toEqual(expected);
  });
});
