import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import type { ReadOptions } from "../../../../shared/dynamodb/table-client.ts";
import { withinBudget } from "../../../../shared/pages/read/read-budget.ts";
import * as admission from "../../../../shared/rate-limit/list-admission.ts";

const start = Date.UTC(2026, 0, 1);
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));

const anyRange = () => randomUUID();

describe("a list", () => {
  test("may consume 3,000 read units", async () => {
    const send = vi.fn(async ({ onUnits }: ReadOptions) => onUnits?.(1001));
    const list = withinBudget("acme", anyRange(), async (call) => {
      for (let i = 0; i < 5; i++) await call(send);
    });
    await expect(list).rejects.toMatchObject({ name: "TooExpensiveError", code: "too_many_reads" });
    expect(send).toHaveBeenCalledTimes(3);
  });

  test.each([
    [2999, "sent"],
    [3000, undefined],
  ])("may take three seconds: a call after %i ms is %s", async (time, expected) => {
    const list = withinBudget("acme", anyRange(), async (call) => {
      vi.setSystemTime(start + time);
      return call(async () => "sent");
    });
    const result = await list.catch((error: unknown) => {
      expect(error).toBeInstanceOf(TooExpensiveError);
    });
    expect(result).toBe(expected);
  });

  test("aborts a call that is in progress after three seconds", async () => {
    const abort = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(abort.signal);
    const list = withinBudget("acme", anyRange(), (call) =>
      call(({ abortSignal }) => {
        const ended = new Promise<never>((_, reject) =>
          abortSignal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
        );
        abort.abort();
        return ended;
      }),
    );
    await expect(list).rejects.toThrow(TooExpensiveError);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(3000);
  });
});

describe("the admission of a long list", () => {
  test.each([
    [500, 256, 0],
    [501, 0, 1],
    [0, 257, 1],
  ])("is requested by calls after %i ms and %i read units: %i times", async (time, units, asked) => {
    const admit = vi.spyOn(admission, "admitLongList").mockResolvedValue();
    await withinBudget("acme", anyRange(), async (call) => {
      await call(async ({ onUnits }) => onUnits?.(units));
      vi.setSystemTime(start + time);
      for (let i = 0; i < 3; i++) await call(async () => "sent");
    });
    expect(admit.mock.calls).toEqual(Array(asked).fill(["acme"]));
  });
});
