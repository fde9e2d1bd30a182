import { Expectations } from "./expectations.ts";
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
import { ReaderSteps } from "./steps/reader-steps.ts";
import { type Step, Steps } from "./steps/steps.ts";

/** The states of a scenario, and the steps between them. */
export class World {
  readonly #steps: Steps;
  readonly #expectations: Expectations;
  readonly #readers: ReaderSteps;
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#steps = new Steps(scenario);
    this.#expectations = new Expectations(this.#steps, scenario);
    this.#readers = new ReaderSteps(this.#steps, this.#expectations, scenario);
  }

  /** The state before all events, in which the initial rows are counted. */
  async start(): Promise<State> {
    const { initial, limits, events, maintainers, ahead = 0 } = this.#scenario;
    const { tables, records, actors } = this.#steps;
    let table = tables.empty;
    let row = 0;
    const clock = startTime - countedAgo;
    for (const [group, ages] of initial.entries()) {
      const created = ages.map((age) => {
        const createdAt = startTime - age * 1000;
        const write = {
          before: undefined,
          after: createRow(row, createdAt, sourceOf(this.#scenario, row++)),
        };
        table = this.#steps.write(table, toCommand(write));
        return records.add(write, clock) ?? -1;
      });
      const skew = group === initial.length - 1 ? ahead : 0;
      const program = counter(records.changes(created), limits, skew);
      ({ table } = await actors.runAlone(program, table, clock, tables));
    }
    return {
      ...{ table, clock: startTime, events: events.map(() => 0), pending: 0 },
      ...{ records: [], past: [], underWay: undefined },
      maintainers: maintainers.map(() => undefined),
      ...{ reading: undefined, crashes: 0, pages: 0 },
    };
  }

  key = (state: State) => stateKey(state, this.#scenario.maintainers);

  /** Checks what must hold in a state. */
  async check(state: State): Promise<void> {
    const { table, maintainers } = state;
    const open = openEvents(state);
    const quiet = maintainers.every((it) => !it);
    this.#expectations.checkTrees(table, this.#steps.events.rows(open));
    const slack = this.#steps.events.slack(open);
    await this.#expectations.checkTotal(table, slack, quiet);
    if (open === 0) await this.#expectations.checkExact(table);
  }

  /** Whether all events have happened, and nothing is running or pending. */
  isEnd({ events, pending, maintainers, reading }: State): boolean {
    const happened = this.#steps.events.next(events).length === 0;
    return happened && pending === 0 && !reading && maintainers.every((it) => !it);
  }

  steps(state: State): Step[] {
    const ofMaintainers = maintainerSteps(this.#steps, this.#scenario, state);
    const steps = [...this.#happen(state), ...ofMaintainers, ...this.#readers.all(state)];
    const read = this.#steps.events.writesFollow(state.events)
      ? undefined
      : steps.find(({ readsRows }) => readsRows)?.readsRows;
    const taken = read === undefined ? steps : steps.filter(({ readsRows }) => readsRows === read);
    return taken.map(({ label, take }) => ({
      label,
      take: async () => {
        const next = this.#readers.watched(await take());
        this.#expectations.checkProgress(state.table, next.table);
        return next;
      },
    }));
  }

  #happen(state: State): Step[] {
    return this.#steps.events.next(state.events).flatMap(({ event, number, happened }) => {
      const after = { ...state, events: happened };
      switch (event.do) {
        case "pass":
          return this.#steps.pass(after, state.clock + event.time, "time passes", async (it) => it);
        case "damage":
          return this.#damage(after, event);
        default:
          return this.#write(after, event, number);
      }
    });
  }

  #damage(state: State, event: DamageEvent): Step[] {
    const { what, source } = event;
    const command = damage(this.#steps.tables.items(state.table), event);
    const take = async () => (command ? { ...state, table: this.#steps.write(state.table, command) } : state);
    return [{ label: `the ${what} of ${source ?? "the list"} is lost`, take }];
  }

  #write(state: State, event: WriteEvent, number: number): Step[] {
    const write = this.#steps.events.write(event, state.clock, this.#expectations.rows(state.table));
    if (!write) return [];
    const { do: kind, row, ...what } = event;
    const take = async () => {
      const { tables, records } = this.#steps;
      const record = records.add(write, state.clock);
      const before = tables.withoutTrees(state.table);
      const past = this.#scenario.filter ? [...new Set([...state.past, before])].sort() : [];
      return {
        ...state,
        ...{ table: this.#steps.write(state.table, toCommand(write)), past },
        pending: state.pending | (record === undefined ? 0 : 1 << number),
        records: Object.assign([...state.records], { [number]: record }),
      };
    };
    return [{ label: `row ${row}: ${kind} ${Object.values(what).join(" ")}`, take }];
  }
}
