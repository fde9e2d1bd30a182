import assert from "node:assert/strict";
import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { Expectations } from "../expectations.ts";
import { type ReadPage, reader } from "../programs.ts";
import { isMatch, rowNumber } from "../rows.ts";
import type { Scenario } from "../scenario.ts";
import { openEvents, type Reading, type State } from "../state.ts";
import type { TableState } from "../tables.ts";
import type { Step, Steps } from "./steps.ts";

/** What makes the steps of the readers of a scenario. */
export function readerSteps(steps: Steps, { rows }: Expectations, { pages, filter }: Scenario) {
  /** With a filter, `always` and `ever` already account for rows with open changes. */
  const slack = (state: State) =>
    filter ? { imported: 0, deleted: 0 } : steps.events.slack(openEvents(state));

  /** The matching rows of a state, as bits of their numbers. */
  const bits = (table: TableState) =>
    rows(table)
      .filter(isMatch(filter ?? {}))
      .reduce((all, { id }) => all | (1 << rowNumber(String(id))), 0);

  function start(state: State, page: number): Omit<Reading, "actor"> {
    // The reader's index may have an earlier version of any row.
    const versions = [state.table, ...state.past].map(bits);
    const always = versions.reduce((all, some) => all & some);
    const ever = versions.reduce((all, some) => all | some);
    return { page, always, ever, ...slack(state) };
  }

  function begin(state: State): Step[] {
    const page = pages?.[state.pages];
    if (page === undefined) return [];
    const take = async () => {
      const actor = await steps.actors.start(reader(page, filter), state.clock);
      return { ...state, pages: state.pages + 1, reading: { ...start(state, page), actor } };
    };
    return [{ label: `a reader of page ${page} starts`, take }];
  }

  return {
    all(state: State): Step[] {
      const { reading } = state;
      if (!reading) return begin(state);
      return steps.answer(state, "reader", reading.actor, (actor, after, { command }) => {
        // After a wait, the reader reads the page again.
        if (!command) return { ...after, reading: { ...start(after, reading.page), actor } };
        if (!actor.end) return { ...after, reading: { ...reading, actor } };
        if ("value" in actor.end) checkReading(reading, actor.end.value as ReadPage);
        else if (!isBusy(actor.end.error)) throw actor.end.error;
        return { ...after, reading: undefined };
      });
    },

    /** Adds the matching rows and the slack of the present state to the reading. */
    watched(state: State): State {
      const { reading, table } = state;
      if (!reading) return state;
      const { imported, deleted } = slack(state);
      return {
        ...state,
        reading: {
          ...reading,
          always: reading.always & bits(table),
          ever: reading.ever | bits(table),
          imported: Math.max(reading.imported, imported),
          deleted: Math.max(reading.deleted, deleted),
        },
      };
    },
  };
}

const countBits = (bits: number): number => (bits === 0 ? 0 : (bits & 1) + countBits(bits >>> 1));

/** Checks a page: its total includes every row that matched all the time, and no row that never matched. */
function checkReading({ page, always, ever, imported, deleted }: Reading, { total, ids }: ReadPage): void {
  const [least, most] = [countBits(always) - imported, countBits(ever) + deleted];
  assert(total >= least && total <= most, `page ${page} has the total ${total}, not ${least} to ${most}`);
  assert.deepEqual(ids, [...new Set(ids)].sort().reverse(), `page ${page} is not in order`);
}
