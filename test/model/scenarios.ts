import type { Scenario } from "./scenario.ts";
import { clocksFarAhead } from "./scenarios/clocks-far-ahead.ts";
import { damagedTrees } from "./scenarios/damaged-trees.ts";
import { labelTrees } from "./scenarios/label-trees.ts";
import { readers } from "./scenarios/readers.ts";
import { tornTransactions } from "./scenarios/torn-transactions.ts";
import { wholeLists } from "./scenarios/whole-lists.ts";

/** All scenarios, by what they are about. */
export const scenarios: readonly (readonly Scenario[])[] = [
  wholeLists,
  labelTrees,
  damagedTrees,
  clocksFarAhead,
  readers,
  tornTransactions,
];
