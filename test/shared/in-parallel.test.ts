import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { inParallel } from "../../shared/in-parallel.ts";

test("after a failure no work is started, and the work that was started ends before the error is thrown", async () => {
  const started: number[] = [];
  const ended: number[] = [];
  async function* values() {
    // The third value is requested before the failure, and arrives after it.
    for (const value of [1, 2, 3, 4, 5]) {
      if (value === 3) await setTimeout(50);
      yield value;
    }
  }
  const work = async (value: number) => {
    started.push(value);
    if (value === 2) throw new Error("on purpose");
    await setTimeout(100);
    ended.push(value);
  };
  await expect(inParallel(values(), work, 3)).rejects.toThrow("on purpose");
  expect({ started, ended }).toEqual({ started: [1, 2], ended: [1] });
});
