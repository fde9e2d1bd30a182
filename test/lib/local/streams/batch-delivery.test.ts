import { expect, test } from "vitest";
import { type Delivery, deliverBatch } from "../../../../lib/local/streams/batch-delivery.ts";
import { createRecord, sequenceNumbers } from "../support/records.ts";

const failed = (...identifiers: unknown[]) => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

/** Delivers records 8 to 11 to a function. @returns its calls, the discarded records and the delays */
async function deliver(
  response: (numbers: number[], call: number) => unknown,
  settings: Partial<Delivery["source"]> = {},
) {
  const calls: number[][] = [];
  const discarded: number[][] = [];
  const delays: number[] = [];
  let now = 0;
  await deliverBatch(
    [8, 9, 10, 11].map((number) => createRecord(number)),
    {
      source: { maxAge: 300, reportsFailures: true, ...settings },
      startedAt: 0,
      now: () => now,
      invoke: async (records) => {
        calls.push(sequenceNumbers(records));
        return response(sequenceNumbers(records), calls.length);
      },
      onDiscarded: (records) => discarded.push(sequenceNumbers(records)),
      delay: async (milliseconds) => {
        delays.push(milliseconds);
        now += milliseconds;
      },
      signal: new AbortController().signal,
    },
  );
  return { calls, discarded, delays };
}

test.each([
  null,
  undefined,
  {},
  failed(),
  { batchItemFailures: null },
])("%j is a success", async (response) => {
  expect(await deliver(() => response)).toMatchObject({ calls: [[8, 9, 10, 11]], discarded: [] });
});

test("the batch is retried from the lowest failed record, numbers compared as numbers", async () => {
  const { calls, discarded } = await deliver((_, call) => (call === 1 ? failed("10", "0009") : null));
  expect({ calls, discarded }).toEqual({
    calls: [
      [8, 9, 10, 11],
      [9, 10, 11],
    ],
    discarded: [],
  });
});

test.each([
  failed(""),
  failed(null),
  failed("10", "99"),
  { batchItemFailures: "all" },
])("%j, which names an unknown record, fails the whole batch", async (response) => {
  const { calls } = await deliver((_, call) => (call === 1 ? response : null));
  expect(calls).toEqual([
    [8, 9, 10, 11],
    [8, 9, 10, 11],
  ]);
});

test("a record that always fails is retried with exponential backoff, and discarded when it is too old", async () => {
  const { calls, discarded, delays } = await deliver((numbers) =>
    numbers.includes(11) ? failed("11") : null,
  );
  expect(calls).toEqual([[8, 9, 10, 11], [11], [11]]);
  expect(discarded).toEqual([[11]]);
  expect(delays).toEqual([100, 200, 400]);
});

test("the backoff grows to ten seconds", async () => {
  const { delays } = await deliver(() => failed("8"), { maxAge: 40_000 });
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
});

test("a batch for which the function throws is halved until one record is left; those behind it wait, and become too old with it", async () => {
  const { calls, discarded } = await deliver((numbers) => {
    if (numbers.includes(9)) throw new Error("on purpose");
    return null;
  });
  expect(calls).toEqual([[8, 9, 10, 11], [8, 9], [8], [9], [9], [9]]);
  expect(discarded).toEqual([[9], [10, 11]]);
});

test("without reported failures, every response is a success", async () => {
  const { calls } = await deliver(() => failed("8"), { reportsFailures: false });
  expect(calls).toHaveLength(1);
});

test("nothing is retried or discarded once the run ends", async () => {
  const controller = new AbortController();
  const calls: number[] = [];
  await deliverBatch([createRecord(1)], {
    source: { maxAge: Number.POSITIVE_INFINITY, reportsFailures: true },
    startedAt: 0,
    now: () => 0,
    invoke: async () => {
      calls.push(1);
      controller.abort();
      throw new Error("its worker was ended");
    },
    onDiscarded: () => calls.push(2),
    delay: async () => {},
    signal: controller.signal,
  });
  expect(calls).toEqual([1]);
});

test("records are retried by their age alone, from the start of the run at the earliest", async () => {
  const hour = 3_600_000;
  const startedAt = 1_000_000_000_000;
  let now = startedAt;
  const writtenAt = (sequenceNumber: number, time: number) => {
    const { dynamodb, ...record } = createRecord(sequenceNumber);
    return { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime: time / 1000 } };
  };
  const discarded: { numbers: number[]; hours: number }[] = [];
  await deliverBatch([writtenAt(1, startedAt - 24 * hour), writtenAt(2, startedAt + 2 * hour)], {
    source: { maxAge: 12 * hour, reportsFailures: false },
    startedAt,
    now: () => now,
    invoke: async () => {
      throw new Error("on purpose");
    },
    onDiscarded: (records) =>
      discarded.push({ numbers: sequenceNumbers(records), hours: (now - startedAt) / hour }),
    delay: async () => {
      now += hour / 2;
    },
    signal: new AbortController().signal,
  });
  expect(discarded).toEqual([
    { numbers: [1], hours: 12.5 },
    { numbers: [2], hours: 14.5 },
  ]);
});
