import { beforeEach, expect, test, vi } from "vitest";
import { Pace } from "../../../shared/dynamodb/pace.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { canceled } from "../../support/tables/cancellation.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 0 }));

const named = (name: string) => Object.assign(new Error("failed"), { name });
const throttled = named("ThrottlingException");

/** A pace whose waits move the clock, and their lengths. */
function pace(units?: number, deadline?: number) {
  const { lengths } = skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
  return { pace: new Pace(units, deadline), waits: lengths };
}

/** Spends units in pages. @returns the units per second */
async function measure(paced: Pace, pages: number): Promise<number> {
  // Uses the credit for the time that calls take.
  await paced.spend(256);
  const start = Date.now();
  for (let page = 0; page < pages; page++) await paced.spend(256);
  return (1000 * 256 * pages) / (Date.now() - start);
}

test("at most the given units are used per second, 1,500 by default", async () => {
  expect(await measure(pace().pace, 100)).toBeCloseTo(1500, -1);
  expect(await measure(pace(100).pace, 100)).toBeCloseTo(100, -1);
});

test("parallel calls share the units", async () => {
  const { pace: paced } = pace();
  const start = Date.now();
  await Promise.all(Array.from({ length: 8 }, () => paced.spend(1500)));
  expect(Date.now() - start).toBeGreaterThanOrEqual(7800);
});

test.each([
  ["a call", throttled],
  ["a transaction", canceled("None", "ThrottlingError")],
])("throttling of %s halves the rate at most once a second, and the rate then recovers", async (_, error) => {
  const { pace: paced } = pace();
  let failures = 2;
  await paced.retry(async () => {
    if (failures-- > 0) throw error;
  });
  const slow = await measure(paced, 3);
  expect(slow).toBeGreaterThan(700);
  expect(slow).toBeLessThan(800);
  await measure(paced, 200);
  expect(await measure(paced, 100)).toBeCloseTo(1500, -1);
});

test("throttling is retried without a limit, with waits of up to five seconds", async () => {
  const { pace: paced, waits } = pace();
  let failures = 1000;
  await paced.retry(async () => {
    if (failures-- > 0) throw throttled;
  });
  expect(waits.length).toBe(1000);
  expect(Math.max(...waits)).toBeGreaterThan(4000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
  expect(await measure(paced, 3)).toBeGreaterThan(1500 / 32);
});

test("a call is retried for a minute if the table cannot be reached, and not at all after another error", async () => {
  const { pace: paced } = pace();
  await expect(paced.retry(async () => Promise.reject(named("TimeoutError")))).rejects.toThrow("failed");
  expect(Date.now()).toBeGreaterThanOrEqual(60_000);
  expect(Date.now()).toBeLessThan(70_000);
  const before = Date.now();
  await expect(paced.retry(async () => Promise.reject(named("ValidationException")))).rejects.toThrow();
  expect(Date.now()).toBe(before);
});

test("when the time is up, throttling is not retried, and no more units are spent", async () => {
  const { pace: paced } = pace(undefined, 30_000);
  await expect(paced.retry(async () => Promise.reject(throttled))).rejects.toThrow(throttled);
  expect(Date.now()).toBeGreaterThan(25_000);
  vi.setSystemTime(30_000);
  await expect(paced.spend(1)).rejects.toMatchObject({ name: "TooExpensiveError", code: "too_slow" });
});
