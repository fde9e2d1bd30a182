import { expectations } from "./expectations.ts";
import { counter } from "./programs.ts";
import { createRow } from "./rows.ts";
import {
  countedAgo,
  type DamageEvent,
  type Scenario,
  sourceOf,
  startTime,
  type WriteEvent,
} from "./scenario.ts";
import { openEvents, type State, stateKey } from "./state.ts";
import { damage, toCommand } from "./steps/events.ts";
import { maintainerSteps } from "./steps/maintainer-steps.ts";
import { readerSteps } from "./steps/reader-steps.ts";
import { type Step, Steps } from "./steps/steps.ts";

/** The states of a scenario, and the steps between them. */
export function worldOf(scenario: Scenario) {
  const steps = new Steps(scenario);
  const { tables, records, actors, events } = steps;
  const expected = expectations(steps, scenario);
  const readers = readerSteps(steps, expected, scenario);

  function happen(state: State): Step[] {
    return events.next(state.events).flatMap(({ event, number, happened }) => {
      const after = { ...state, events: happened };
      switch (event.do) {
        case "pass":
          return steps.pass(after, state.clock + event.time, "time passes", async (it) => it);
        case "damage":
          return lose(after, event);
        default:
          return write(after, event, number);
      }
    });
  }

  function lose(state: State, event: DamageEvent): Step[] {
    const { what, source } = event;
    const command = damage(tables.items(state.table), event);
    const take = async () => (command ? { ...state, table: steps.write(state.table, command) } : state);
    return [{ label: `the ${what} of ${source ?? "the list"} is lost`, take }];
  }

  function write(state: State, event: WriteEvent, number: number): Step[] {
    const change = events.write(event, state.clock, expected.rows(state.table));
    if (!change) return [];
    const { do: kind, row, ...what } = event;
    const take = async () => {
      const record = records.add(change, state.clock);
      return {
        ...state,
        table: steps.write(state.table, toCommand(change)),
        pending: state.pending | (record === undefined ? 0 : 1 << number),
        records: Object.assign([...state.records], { [number]: record }),
      };
    };
    return [{ label: `row ${row}: ${kind} ${Object.values(what).join(" ")}`, take }];
  }

  return {
    key: (state: State) => stateKey(state, scenario.maintainers),

    /** The state before all events, in which the initial rows are counted. */
    async start(): Promise<State> {
      const { initial, limits, maintainers, ahead = 0 } = scenario;
      let table = tables.empty;
      let row = 0;
      const clock = startTime - countedAgo;
      for (const [group, ages] of initial.entries()) {
        const created = ages.map((age) => {
          const after = createRow(row, startTime - age * 1000, sourceOf(scenario, row++));
          const change = { before: undefined, after };
          table = steps.write(table, toCommand(change));
          return records.add(change, clock) ?? -1;
        });
        const skew = group === initial.length - 1 ? ahead : 0;
        const program = counter(records.changes(created), limits, skew);
        ({ table } = await actors.runAlone(program, table, clock, tables));
      }
      return {
        ...{ table, clock: startTime, events: scenario.events.map(() => 0), pending: 0 },
        ...{ records: [], underWay: undefined },
        maintainers: maintainers.map(() => undefined),
        ...{ reading: undefined, crashes: 0, pages: 0 },
      };
    },

    /** Checks what must hold in a state. */
    async check(state: State): Promise<void> {
      const { table, maintainers } = state;
      const open = openEvents(state);
      const quiet = maintainers.every((it) => !it);
      expected.checkTrees(table, events.rows(open));
      await expected.checkTotal(state, quiet);
      if (open === 0) await expected.checkExact(table);
    },

    /** Whether all events have happened, and nothing is running or pending. */
    isEnd({ events: happened, pending, maintainers, reading }: State): boolean {
      const isAll = events.next(happened).length === 0;
      return isAll && pending === 0 && !reading && maintainers.every((it) => !it);
    },

    steps(state: State): Step[] {
      const all = [...happen(state), ...maintainerSteps(steps, scenario, state), ...readers.all(state)];
      return all.map(({ label, take }) => ({
        label,
        take: async () => {
          const next = readers.watched(await take());
          expected.checkProgress(state.table, next.table);
          return next;
        },
      }));
    },
  };
}
