import { expect, test } from "vitest";
import { maxAccounts, RateWindows } from "../../../shared/domain/rate-windows.ts";

const start = Date.UTC(2026, 0, 1);
const unused = { permits: 0, lease: 1, used: 0, decision: { granted: false, until: 0 } };

test("an account's state lasts for a window, and a decision beyond it", () => {
  const windows = new RateWindows(60);
  Object.assign(windows.of("acme", start), { permits: 4, used: 7 });
  const decision = { granted: false, until: start + 61_000 };
  Object.assign(windows.of("hot", start), { permits: 4, used: 7, decision });
  expect(windows.of("acme", start + 59_999)).toMatchObject({ permits: 4, used: 7 });
  expect([windows.start, windows.end]).toEqual([start / 1000, start / 1000 + 60]);
  expect(windows.of("acme", start + 60_000)).toEqual(unused);
  expect(windows.of("hot", start + 60_000)).toEqual({ ...unused, decision });
  expect(windows.of("hot", start + 120_000)).toEqual(unused);
});

test("an environment remembers ten thousand accounts, and forgets the oldest first", () => {
  expect(maxAccounts).toBe(10_000);
  const windows = new RateWindows(60);
  for (const account of ["first", "second"]) windows.of(account, start).permits = 4;
  for (let n = 2; n <= maxAccounts; n++) windows.of(`account-${n}`, start);
  expect(windows.of("second", start).permits).toBe(4);
  expect(windows.of("first", start)).toEqual(unused);
});
