import { describe, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

describe("lists and their trees are right in every course of events", () => {
  test.each(scenarios.filter(({ large }) => !large))("$name", async (scenario) => {
    const { states, steps } = await explore(scenario);
    expect(states).toBeGreaterThan(50);
    expect(steps).toBeGreaterThanOrEqual(states - 1);
  });
});
