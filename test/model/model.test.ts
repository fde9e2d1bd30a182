import { describe, expect, test } from "vitest";
import { part } from "../support/cases/part.ts";
import { explore } from "./explore.ts";
import { clocksFarAhead } from "./scenarios/clocks-far-ahead.ts";
import { damagedTrees } from "./scenarios/damaged-trees.ts";
import { labelTrees } from "./scenarios/label-trees.ts";
import { readers } from "./scenarios/readers.ts";
import { tornTransactions } from "./scenarios/torn-transactions.ts";
import { wholeLists } from "./scenarios/whole-lists.ts";

const scenarios = [wholeLists, labelTrees, damagedTrees, clocksFarAhead, readers, tornTransactions];
const isNight = process.env.TEST_SEED === "whole";
/** A part of the scenarios about each subject. Large scenarios run only at night. */
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
