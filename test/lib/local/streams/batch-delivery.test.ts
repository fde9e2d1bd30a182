import { expect, test } from "vitest";
import { type Delivery, deliverBatch } from "../../../../lib/local/streams/batch-delivery.ts";
import { aRecord, sequenceNumbers } from "../support/records.ts";

const failed = (...identifiers: unknown[]) => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

/** Delivers records 8 to 11 to a function, and gives what it was called with and what was given up. */
async function deliver(
  response: (numbers: number[], call: number) => unknown,
  settings: Partial<Delivery["source"]> = {},
) {
  const calls: number[][] = [];
  const givenUp: number[][] = [];
  const pauses: number[] = [];
  await deliverBatch(
    [8, 9, 10, 11].map((number) => aRecord(number)),
    {
      source: { retries: 2, bisects: true, reportsFailures: true, ...settings },
      invoke: async (records) => {
        calls.push(sequenceNumbers(records));
        return response(sequenceNumbers(records), calls.length);
      },
      giveUp: (records) => givenUp.push(sequenceNumbers(records)),
      pause: async (milliseconds) => pauses.push(milliseconds),
      signal: new AbortController().signal,
    },
  );
  return { calls, givenUp, pauses };
}

test.each([
  null,
  undefined,
  {},
  failed(),
  { batchItemFailures: null },
])("%j is a success", async (response) => {
  expect(await deliver(() => response)).toMatchObject({ calls: [[8, 9, 10, 11]], givenUp: [] });
});

test("all from the lowest failed record on comes again, numbers compared as numbers", async () => {
  const { calls, givenUp } = await deliver((_, call) => (call === 1 ? failed("10", "0009") : null));
  expect({ calls, givenUp }).toEqual({
    calls: [
      [8, 9, 10, 11],
      [9, 10, 11],
    ],
    givenUp: [],
  });
});

test.each([
  failed(""),
  failed(null),
  failed("10", "99"),
  { batchItemFailures: "all" },
])("%j, which names no record of the batch, fails all of it", async (response) => {
  const { calls } = await deliver((_, call) => (call === 1 ? response : null));
  expect(calls).toEqual([
    [8, 9, 10, 11],
    [8, 9, 10, 11],
  ]);
});

test("what fails every time is given up after the retries, with longer and longer pauses", async () => {
  const { calls, givenUp, pauses } = await deliver((numbers) => (numbers.includes(11) ? failed("11") : null));
  expect(calls).toEqual([[8, 9, 10, 11], [11], [11]]);
  expect(givenUp).toEqual([[11]]);
  expect(pauses).toEqual([100, 200]);
});

test("a batch that the function throws is halved until one record is left, which alone is given up", async () => {
  const { calls, givenUp } = await deliver((numbers) => {
    if (numbers.includes(9)) throw new Error("on purpose");
    return null;
  });
  expect(calls).toEqual([[8, 9, 10, 11], [8, 9], [8], [9], [9], [9], [10, 11]]);
  expect(givenUp).toEqual([[9]]);
});

test("without bisecting, it comes again whole", async () => {
  const throwing = () => {
    throw new Error("on purpose");
  };
  const { calls, givenUp } = await deliver(throwing, { bisects: false });
  expect(calls).toHaveLength(3);
  expect(givenUp).toEqual([[8, 9, 10, 11]]);
});

test("without reported failures, every answer is a success", async () => {
  const { calls } = await deliver(() => failed("8"), { reportsFailures: false });
  expect(calls).toHaveLength(1);
});

test("nothing is tried again, and nothing is given up, once the run ends", async () => {
  const controller = new AbortController();
  const calls: number[] = [];
  await deliverBatch([aRecord(1)], {
    source: { retries: 0, bisects: true, reportsFailures: true },
    invoke: async () => {
      calls.push(1);
      controller.abort();
      throw new Error("its worker was ended");
    },
    giveUp: () => calls.push(2),
    pause: async () => {},
    signal: controller.signal,
  });
  expect(calls).toEqual([1]);
});
