import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { Expectations } from "../expectations.ts";
import { type ReadPage, reader } from "../programs.ts";
import { isMatch } from "../rows.ts";
import type { Scenario } from "../scenario.ts";
import { openEvents, type State } from "../state.ts";
import type { TableState } from "../tables.ts";
import { checkReading, type Reading, rowBits, watch } from "./reading.ts";
import type { Step, Steps } from "./steps.ts";

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
    return this.#steps.answer(state, "reader", reading.actor, (actor, after, { command }) => {
      // After a wait, the reader reads the page again.
      if (!command) return { ...after, reading: { ...this.#start(after, reading.page), actor } };
      if (!actor.end) return { ...after, reading: { ...reading, actor } };
      if ("value" in actor.end) checkReading(reading, actor.end.value as ReadPage);
      else if (!isBusy(actor.end.error)) throw actor.end.error;
      return { ...after, reading: undefined };
    });
  }

  /** Adds the present state to the reading. */
  watched(state: State): State {
    if (!state.reading) return state;
    return { ...state, reading: watch(state.reading, this.#bits(state.table), this.#slack(state)) };
  }

  #begin(state: State): Step[] {
    const { pages, filter } = this.#scenario;
    const page = pages?.[state.pages];
    if (page === undefined) return [];
    const take = async () => {
      const actor = await this.#steps.actors.start(reader(page, filter), state.clock);
      return { ...state, pages: state.pages + 1, reading: { ...this.#start(state, page), actor } };
    };
    return [{ label: `a reader of page ${page} starts`, take }];
  }

  #start(state: State, page: number): Omit<Reading, "actor"> {
    // The reader's index may have an earlier version of any row.
    const bits = [state.table, ...state.past].map((table) => this.#bits(table));
    const always = bits.reduce((all, some) => all & some);
    const ever = bits.reduce((all, some) => all | some);
    return { page, always, ever, ...this.#slack(state) };
  }

  /** With a filter, `always` and `ever` already account for rows with open changes. */
  #slack = (state: State) =>
    this.#scenario.filter ? { imported: 0, deleted: 0 } : this.#steps.events.slack(openEvents(state));

  #bits = (table: TableState) =>
    rowBits(this.#expectations.rows(table).filter(isMatch(this.#scenario.filter ?? {})));
}
