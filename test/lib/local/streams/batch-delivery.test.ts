import { expect, test } from "vitest";
import { deliverBatch } from "../../../../lib/local/streams/batch-delivery.ts";
import { createRecord, sequenceNumbers } from "../support/records.ts";

const failed = (...identifiers: string[]) => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

/** Delivers records 8 to 11. @returns the records of each call, and the delays between them */
async function deliver(respond: (call: number, endRun: () => void) => unknown) {
  const calls: number[][] = [];
  const delays: number[] = [];
  const controller = new AbortController();
  const records = [8, 9, 10, 11].map((number) => createRecord(number));
  await deliverBatch(records, {
    deliver: async (records) => {
      calls.push(sequenceNumbers(records));
      return respond(calls.length, () => controller.abort());
    },
    wait: async (milliseconds) => delays.push(milliseconds),
    signal: controller.signal,
  });
  return { calls, delays };
}

const all = [8, 9, 10, 11];

test.each([null, undefined, [], {}, failed()])("%j is a success", async (response) => {
  expect(await deliver(() => response)).toEqual({ calls: [all], delays: [] });
});

test.each([
  ["reports", failed("10", "9"), [9, 10, 11]],
  ["does not have", failed("10", "99"), all],
])("a batch is delivered again from the first failed record that it %s", async (_, response, rest) => {
  const { calls } = await deliver((call) => (call === 1 ? response : null));
  expect(calls).toEqual([all, rest]);
});

test("a batch for which the function throws is delivered again, with exponential backoff", async () => {
  const { calls, delays } = await deliver((call) => {
    if (call <= 9) throw new Error("on purpose");
  });
  expect(calls).toEqual(Array(10).fill(all));
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

test("nothing is delivered again once the run ends", async () => {
  const ended = await deliver((_, endRun) => {
    endRun();
    throw new Error("its worker was ended");
  });
  expect(ended).toEqual({ calls: [all], delays: [] });
});
