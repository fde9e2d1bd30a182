import { expect, test, vi } from "vitest";
import { part } from "./part.ts";

const cases = Array.from({ length: 40 }, (_, index) => index);

test("a run has one in four of the cases, in their order", () => {
  vi.stubEnv("TEST_SEED", "5");
  const chosen = part(cases, 4);
  expect(chosen).toHaveLength(10);
  expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
  expect(part(cases, 4)).toEqual(chosen);
});

test("other commits have other cases, and twenty commits have all", () => {
  const seen = Array.from({ length: 20 }, (_, seed) => {
    vi.stubEnv("TEST_SEED", String(seed));
    return part(cases, 4);
  });
  expect(new Set(seen.map(String)).size).toBe(20);
  expect(new Set(seen.flat()).size).toBe(40);
});

test("there is at least one, and all when the whole is asked for", () => {
  vi.stubEnv("TEST_SEED", "5");
  expect(part([1, 2], 4)).toHaveLength(1);
  vi.stubEnv("TEST_SEED", "whole");
  expect(part(cases, 4)).toEqual(cases);
});

test("tests with other names have other cases", () => {
  vi.stubEnv("TEST_SEED", "3000000000");
  const names = Array.from({ length: 20 }, (_, n) => `a long name of a test, as most tests have: ${n}`);
  expect(new Set(names.map((name) => String(part(cases, 4, name)))).size).toBe(20);
});
