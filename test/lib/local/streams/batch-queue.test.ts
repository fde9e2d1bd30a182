import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BatchQueue } from "../../../../lib/local/streams/batch-queue.ts";
import { createRecord, sequenceNumbers } from "../support/records.ts";

// The timers of `node:timers/promises` cannot be faked.
vi.mock(import("../../../../lib/local/streams/delay.ts"), () => ({
  delay: (milliseconds, signal) =>
    new Promise((resolve) => {
      setTimeout(resolve, milliseconds);
      signal.addEventListener("abort", () => resolve());
    }),
}));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A queue for batches of three, with a window of a second, whose deliveries take two. */
function start() {
  const delivered: number[][] = [];
  const done: number[] = [];
  const controller = new AbortController();
  const queue = new BatchQueue({
    source: { batchSize: 3, window: 1000 },
    deliver: async (records) => {
      delivered.push(sequenceNumbers(records));
      await new Promise((resolve) => setTimeout(resolve, 2000));
    },
    signal: controller.signal,
  });
  const push = (...numbers: number[]) => {
    for (const number of numbers) queue.push({ record: createRecord(number), done: () => done.push(number) });
  };
  return { push, delivered, done, abort: () => controller.abort() };
}

const advance = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

test("a full batch is delivered at once, others when their window ends", async () => {
  const { push, delivered } = start();
  push(1, 2);
  await advance(999);
  expect(delivered).toEqual([]);
  await advance(1);
  expect(delivered).toEqual([[1, 2]]);

  const full = start();
  full.push(1);
  await advance(10);
  full.push(2, 3);
  await advance(0);
  expect(full.delivered).toEqual([[1, 2, 3]]);
});

test("one batch is delivered after the other, in order, and the rest waits for a window of its own", async () => {
  const { push, delivered, done } = start();
  push(1, 2, 3, 4, 5, 6, 7);
  await advance(1999);
  expect([delivered, done]).toEqual([[[1, 2, 3]], []]);
  await advance(1);
  expect([delivered.at(-1), done]).toEqual([
    [4, 5, 6],
    [1, 2, 3],
  ]);
  await advance(2999);
  expect(delivered).toHaveLength(2);
  await advance(1);
  expect(delivered.at(-1)).toEqual([7]);
});

test("a queue that was empty delivers again", async () => {
  const { push, delivered, done } = start();
  push(1);
  await advance(10_000);
  push(2);
  await advance(10_000);
  expect([delivered, done]).toEqual([
    [[1], [2]],
    [1, 2],
  ]);
});

test("nothing is delivered or done after the run ends", async () => {
  const waiting = start();
  waiting.push(1);
  waiting.abort();
  const delivering = start();
  delivering.push(1, 2, 3, 4);
  await advance(0);
  delivering.abort();
  await advance(10_000);
  expect([waiting.delivered, delivering.delivered]).toEqual([[], [[1, 2, 3]]]);
  expect([waiting.done, delivering.done]).toEqual([[], []]);
});
