import { expect, test, vi } from "vitest";
import { idTimestamp, isId, newId } from "../../shared/ids.ts";

test("an id may be of a time two minutes ahead, and of no later one", () => {
  const now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  const areIds = [120_000, 120_001].map((ahead) => isId("lead", newId("lead", now + ahead)));
  expect(areIds).toEqual([true, false]);
});

test("an id contains the time that it is made for, also the first one", () => {
  for (const time of [0, 1, Date.now()]) expect(idTimestamp(newId("lead", time))).toBe(time);
});
