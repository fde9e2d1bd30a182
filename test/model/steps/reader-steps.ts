import assert from "node:assert/strict";
import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { checkTotal, type Expectations } from "../expectations.ts";
import { type ReadPage, reader } from "../programs.ts";
import type { Scenario } from "../scenario.ts";
import type { Reading, State } from "../state.ts";
import type { Step, Steps } from "./steps.ts";

/** What makes the steps of the readers of a scenario. */
export function readerSteps(steps: Steps, { totals }: Expectations, { pages, filter }: Scenario) {
  function begin(state: State): Step[] {
    const page = pages?.[state.pages];
    if (page === undefined) return [];
    const take = async () => {
      const actor = await steps.actors.start(reader(page, filter), state.clock);
      return { ...state, pages: state.pages + 1, reading: { page, ...totals(state, filter), actor } };
    };
    return [{ label: `a reader of page ${page} starts`, take }];
  }

  return {
    all(state: State): Step[] {
      const { reading } = state;
      if (!reading) return begin(state);
      return steps.answer(state, "reader", reading.actor, (actor, after, { command }) => {
        // After a wait, the reader reads the page again.
        if (!command) return { ...after, reading: { page: reading.page, ...totals(after, filter), actor } };
        if (!actor.end) return { ...after, reading: { ...reading, actor } };
        if ("value" in actor.end) checkReading(reading, actor.end.value as ReadPage);
        else if (!isBusy(actor.end.error)) throw actor.end.error;
        return { ...after, reading: undefined };
      });
    },

    /** Adds the present state to what the reading may show. */
    watched(state: State): State {
      const { reading } = state;
      if (!reading) return state;
      const { always, ever } = totals(state, filter);
      return {
        ...state,
        reading: { ...reading, always: reading.always & always, ever: reading.ever | ever },
      };
    },
  };
}

/** Checks a page: its total includes every row that matched all the time, and no row that never matched. */
function checkReading({ page, ...totals }: Reading, { total, ids }: ReadPage): void {
  checkTotal(page, total, totals);
  assert.deepEqual(ids, [...new Set(ids)].sort().reverse(), `page ${page} is not in order`);
}
