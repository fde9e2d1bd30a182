import type { Expectations } from "./expectations.ts";
import { type ReadPage, reader } from "./programs.ts";
import { checkReading, rowBits, watch } from "./reading.ts";
import { isMatch } from "./rows.ts";
import type { Scenario } from "./scenario.ts";
import { openEvents, type State } from "./state.ts";
import type { Step, Steps } from "./steps.ts";
import type { TableState } from "./tables.ts";

/** The steps of the readers of a scenario. */
export class ReaderSteps {
  readonly #steps: Steps;
  readonly #expectations: Expectations;
  readonly #scenario: Scenario;

  constructor(steps: Steps, expectations: Expectations, scenario: Scenario) {
    this.#steps = steps;
    this.#expectations = expectations;
    this.#scenario = scenario;
  }

  all(state: State): Step[] {
    const { reading } = state;
    if (!reading) return this.#begin(state);
    return this.#steps.answer(state, "reader", reading.actor, (actor, after) => {
      if (!actor.end) return { ...after, reading: { ...reading, actor } };
      if ("value" in actor.end) checkReading(reading, actor.end.value as ReadPage);
      return { ...after, reading: undefined };
    });
  }

  /** Notes in the reading what is so now. */
  watched(state: State): State {
    if (!state.reading) return state;
    const { filter } = this.#scenario;
    const slack = this.#steps.events.slack(openEvents(state), filter ?? {});
    return { ...state, reading: watch(state.reading, this.#rows(state.table), slack) };
  }

  #begin(state: State): Step[] {
    const { pages, filter } = this.#scenario;
    const page = pages?.[state.pages];
    if (page === undefined) return [];
    const bits = rowBits(this.#rows(state.table));
    // Its index may have the rows of an earlier time.
    const earlier = filter ? state.past.map(({ rows }) => rowBits(this.#rows(rows))) : [];
    const always = earlier.reduce((all, some) => all & some, bits);
    const ever = earlier.reduce((all, some) => all | some, bits);
    const program = reader(page, filter);
    const take = async () => {
      const actor = await this.#steps.actors.start(program, state.clock);
      const reading = { actor, page, always, ever, imported: 0, deleted: 0 };
      return { ...state, pages: state.pages + 1, reading };
    };
    return [{ label: `a reader of page ${page} starts`, take }];
  }

  #rows = (table: TableState) => this.#expectations.rows(table).filter(isMatch(this.#scenario.filter ?? {}));
}
