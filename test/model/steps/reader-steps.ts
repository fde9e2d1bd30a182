import assert from "node:assert/strict";
import { isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { Expectations } from "../expectations.ts";
import { type ReadPage, reader } from "../programs.ts";
import { isMatch, rowNumber } from "../rows.ts";
import type { Event, Scenario } from "../scenario.ts";
import { openEvents, type Reading, type State } from "../state.ts";
import type { Step, Steps } from "./steps.ts";

/** What makes the steps of the readers of a scenario. */
export function readerSteps(steps: Steps, { rows }: Expectations, { pages, filter }: Scenario) {
  const { status, source } = filter ?? {};
  /** The events by which an uncounted total may be wrong. */
  const kinds: readonly Event["do"][] = [
    ...(["import", "delete"] as const),
    ...(status === undefined ? [] : ["change" as const]),
    ...(source === undefined ? [] : ["move" as const]),
  ];

  /** The rows that a total must have in a state, and those that it may have: it may lack changes that are not counted yet. */
  function totals(state: State): Pick<Reading, "always" | "ever"> {
    const matching = toBits(
      rows(state.table)
        .filter(isMatch(filter ?? {}))
        .map(({ id }) => rowNumber(String(id))),
    );
    const open = toBits(steps.events.rows(openEvents(state), kinds));
    return { always: matching & ~open, ever: matching | open };
  }

  function begin(state: State): Step[] {
    const page = pages?.[state.pages];
    if (page === undefined) return [];
    const take = async () => {
      const actor = await steps.actors.start(reader(page, filter), state.clock);
      return { ...state, pages: state.pages + 1, reading: { page, ...totals(state), actor } };
    };
    return [{ label: `a reader of page ${page} starts`, take }];
  }

  return {
    all(state: State): Step[] {
      const { reading } = state;
      if (!reading) return begin(state);
      return steps.answer(state, "reader", reading.actor, (actor, after, { command }) => {
        // After a wait, the reader reads the page again.
        if (!command) return { ...after, reading: { page: reading.page, ...totals(after), actor } };
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
      const { always, ever } = totals(state);
      return {
        ...state,
        reading: { ...reading, always: reading.always & always, ever: reading.ever | ever },
      };
    },
  };
}

const toBits = (numbers: Iterable<number>) => [...numbers].reduce((bits, number) => bits | (1 << number), 0);

const countBits = (bits: number): number => (bits === 0 ? 0 : (bits & 1) + countBits(bits >>> 1));

/** Checks a page: its total includes every row that matched all the time, and no row that never matched. */
function checkReading({ page, always, ever }: Reading, { total, ids }: ReadPage): void {
  const [least, most] = [countBits(always), countBits(ever)];
  assert(total >= least && total <= most, `page ${page} has the total ${total}, not ${least} to ${most}`);
  assert.deepEqual(ids, [...new Set(ids)].sort().reverse(), `page ${page} is not in order`);
}
