import type { Scenario } from "./scenario.ts";
import { largeSublists } from "./scenarios/large-sublists.ts";
import { largeWholeLists } from "./scenarios/large-whole-lists.ts";
import { rebuildsBesideSublists } from "./scenarios/rebuilds-beside-sublists.ts";
import { rememberedSublists } from "./scenarios/remembered-sublists.ts";
import { sublists } from "./scenarios/sublists.ts";
import { wholeLists } from "./scenarios/whole-lists.ts";
import { youngRows } from "./scenarios/young-rows.ts";

/** All scenarios. */
export const scenarios: readonly Scenario[] = [
  ...wholeLists,
  ...sublists,
  ...youngRows,
  ...rememberedSublists,
  ...rebuildsBesideSublists,
  ...largeWholeLists,
  ...largeSublists.map((scenario) => ({ ...scenario, large: true })),
];
