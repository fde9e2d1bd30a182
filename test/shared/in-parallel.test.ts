import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { inParallel } from "../../shared/in-parallel.ts";

test("nothing is started after a failure, and what was started ends first", async () => {
  const started: number[] = [];
  const ended: number[] = [];
  async function* values() {
    // The third value is asked for before the failure, and comes after it.
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
