import { expect, test } from "vitest";
import { forEachAtRate } from "../../../../lib/ops/common/for-each-at-rate.ts";

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

test("every value is worked on, with at most as many at a time as allowed", async () => {
  let [running, most] = [0, 0];
  const done: number[] = [];
  await forEachAtRate([...Array(20).keys()].values(), { parallel: 4 }, async (value) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(value);
  });
  expect(done.sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
  expect(most).toBe(4);
});
