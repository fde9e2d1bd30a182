import { expect, test } from "vitest";
import { mergeRuns } from "./merge-runs.ts";
import type { Results } from "./results.ts";

const none = {
  ...{ steady: [], outages: [], costs: [], loneLists: [], greedy: [], hotAccounts: [] },
  seconds: 1,
};

test("results with the same label are one run, with the last results of each scenario", () => {
  const costs = [{ createsPerSecond: 1 }] as unknown as Results["costs"];
  const loneLists = [{ filter: "", lists: [] }];
  const runs = mergeRuns([
    { ...none, label: "before", costs },
    { ...none, label: "after", costs },
    { ...none, label: "before", loneLists },
  ]);
  expect(runs).toEqual([
    { ...none, label: "before", costs, loneLists, seconds: 2 },
    { ...none, label: "after", costs },
  ]);
});
