import { describe, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { clocksFarAhead } from "./scenarios/clocks-far-ahead.ts";
import { damagedTrees } from "./scenarios/damaged-trees.ts";
import { labelTrees } from "./scenarios/label-trees.ts";
import { readers } from "./scenarios/readers.ts";
import { tornTransactions } from "./scenarios/torn-transactions.ts";
import { wholeLists } from "./scenarios/whole-lists.ts";

const scenarios = [wholeLists, labelTrees, damagedTrees, clocksFarAhead, readers, tornTransactions];
const isNight = process.env.TEST_SEED === "whole";
const explored = scenarios.flat().filter(({ large }) => isNight || !large);

describe("lists and their trees are right in every course of events", () => {
  test.each(explored)("$name", { timeout: 3_600_000 }, async (scenario) => {
    const { states, steps } = await explore(scenario);
    expect(states).toBeGreaterThan(50);
    expect(steps).toBeGreaterThanOrEqual(states - 1);
  });
});
