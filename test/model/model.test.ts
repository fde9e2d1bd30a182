import { describe, expect, test } from "vitest";
import { part } from "../support/part.ts";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

const isNight = process.env.TEST_SEED === "whole";
/** A part of those about each subject; the large ones only at night. */
const explored = scenarios.flatMap((some) => [
  ...some.filter(({ always }) => always),
  ...part(
    some.filter(({ always, large }) => !always && (isNight || !large)),
    3,
  ),
]);

describe("lists and their trees are right in every course of events", () => {
  test.each(explored)("$name", { timeout: 3_600_000 }, async (scenario) => {
    const { states, steps } = await explore(scenario);
    expect(states).toBeGreaterThan(50);
    expect(steps).toBeGreaterThanOrEqual(states - 1);
  });
});
