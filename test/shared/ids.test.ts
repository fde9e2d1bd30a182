import { expect, test, vi } from "vitest";
import { idTimestamp, isId, newId } from "../../shared/ids.ts";

test("an id is valid if its time is at most two minutes ahead of the clock", () => {
  const now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  const areIds = [120_000, 120_001].map((ahead) => isId("lead", newId("lead", now + ahead)));
  expect(areIds).toEqual([true, false]);
});

test("an id contains the time for which it is made, also the time 0", () => {
  for (const time of [0, 1, Date.now()]) expect(idTimestamp(newId("lead", time))).toBe(time);
});
