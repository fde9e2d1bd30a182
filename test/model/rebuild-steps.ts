import { rebuilder } from "./programs.ts";
import { owner } from "./rows.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";
import type { Step, Steps } from "./steps.ts";

/** The steps of the rebuilds of a scenario. */
export function rebuildSteps(state: State, steps: Steps, scenario: Scenario): Step[] {
  const { rebuild } = state;
  if (!rebuild) {
    if (state.rebuilds >= (scenario.rebuilds ?? 0)) return [];
    const program = rebuilder(owner, scenario.limits);
    const take = async () => ({
      ...state,
      rebuilds: state.rebuilds + 1,
      rebuild: await steps.actors.start(program, state.clock),
    });
    return [{ label: "a rebuild starts", take }];
  }
  return [
    ...steps.answer(state, "rebuild", rebuild, (next, after) => ({
      ...after,
      rebuild: next.end ? undefined : next,
    })),
    ...steps.crash(state, "rebuild", { ...state, rebuild: undefined }),
  ];
}
