import { expect, test } from "vitest";
import { type Delivery, deliverBatch } from "../../../../lib/local/streams/batch-delivery.ts";
import { createRecord, sequenceNumbers } from "../support/records.ts";

const failed = (...identifiers: unknown[]) => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

/** Delivers records, by default 8 to 11. @returns its calls, the discarded records with the time, and the delays */
async function deliver(
  response: (numbers: number[], call: number, endRun: () => void) => unknown,
  settings: Partial<Delivery["source"]> = {},
  { records = [8, 9, 10, 11].map((number) => createRecord(number)), startedAt = 0 } = {},
) {
  const calls: number[][] = [];
  const discarded: number[][] = [];
  const discardedAfter: number[] = [];
  const delays: number[] = [];
  const controller = new AbortController();
  let now = startedAt;
  await deliverBatch(records, {
    source: { maxAge: 300, reportsFailures: true, ...settings },
    startedAt,
    now: () => now,
    invoke: async (records) => {
      calls.push(sequenceNumbers(records));
      return response(sequenceNumbers(records), calls.length, () => controller.abort());
    },
    onDiscarded: (records) => {
      discarded.push(sequenceNumbers(records));
      discardedAfter.push(now - startedAt);
    },
    delay: async (milliseconds) => {
      delays.push(milliseconds);
      now += milliseconds;
    },
    signal: controller.signal,
  });
  return { calls, discarded, discardedAfter, delays };
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

test("a batch for which the function throws is halved until one record is left; those behind it wait, and become too old with it", async () => {
  const { calls, discarded, delays } = await deliver((numbers) => {
    if (numbers.includes(9)) throw new Error("on purpose");
    return null;
  });
  // It is halved without a pause.
  expect(delays).toEqual([100, 200, 400]);
  expect(calls).toEqual([[8, 9, 10, 11], [8, 9], [8], [9], [9], [9]]);
  expect(discarded).toEqual([[9], [10, 11]]);
});

test("without reported failures, every response is a success", async () => {
  const { calls } = await deliver(() => failed("8"), { reportsFailures: false });
  expect(calls).toHaveLength(1);
});

test("nothing is retried or discarded once the run ends", async () => {
  const ended = await deliver((_numbers, _call, endRun) => {
    endRun();
    throw new Error("its worker was ended");
  });
  expect(ended).toMatchObject({ calls: [[8, 9, 10, 11]], discarded: [], delays: [] });
});

test("records are retried by their age alone, from the start of the run at the earliest", async () => {
  const startedAt = 1_000_000_000_000;
  const writtenAt = (sequenceNumber: number, time: number) => {
    const { dynamodb, ...record } = createRecord(sequenceNumber);
    return { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime: time / 1000 } };
  };
  const records = [writtenAt(1, startedAt - 86_400_000), writtenAt(2, startedAt + 600)];
  const fails = () => {
    throw new Error("on purpose");
  };
  expect(await deliver(fails, {}, { records, startedAt })).toMatchObject({
    discarded: [[1], [2]],
    discardedAfter: [700, 1000],
  });
});
