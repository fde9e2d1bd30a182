import { expect, test } from "vitest";
import { forEachAtRate } from "../../../../lib/ops/table/for-each-at-rate.ts";

test("what waits for its turn is not started after a failure, and what was started ends first", async () => {
  const started: number[] = [];
  const ended: number[] = [];
  const work = async (value: number) => {
    started.push(value);
    if (value === 2) throw new Error("on purpose");
    await new Promise((resolve) => setTimeout(resolve, 100));
    ended.push(value);
  };
  // A start every 20 ms: the third value is taken at once, and waits for its turn when the second one fails.
  const running = forEachAtRate([1, 2, 3, 4, 5].values(), { rate: 50, parallel: 3 }, work);
  await expect(running).rejects.toThrow("on purpose");
  expect({ started, ended }).toEqual({ started: [1, 2], ended: [1] });
});
