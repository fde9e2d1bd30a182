import { toCommand } from "./events.ts";
import { Expectations } from "./expectations.ts";
import { MaintainerSteps } from "./maintainer-steps.ts";
import { maintainer, rebuilder } from "./programs.ts";
import { ReaderSteps } from "./reader-steps.ts";
import { rebuildSteps } from "./rebuild-steps.ts";
import { createRow, owner } from "./rows.ts";
import { countedAgo, indexLag, type Scenario, sourceOf, startTime, type WriteEvent } from "./scenario.ts";
import { openEvents, type State, stateKey } from "./state.ts";
import { type Step, Steps } from "./steps.ts";

/** The states of a scenario, and the steps between them. */
export class World {
  readonly #steps: Steps;
  readonly #expectations: Expectations;
  readonly #maintainers: MaintainerSteps;
  readonly #readers: ReaderSteps;
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#steps = new Steps(scenario);
    this.#expectations = new Expectations(this.#steps.tables, this.#steps.runs, scenario);
    this.#maintainers = new MaintainerSteps(this.#steps, scenario);
    this.#readers = new ReaderSteps(this.#steps, this.#expectations, scenario);
  }

  /** How many states the table has had. */
  get tables(): number {
    return this.#steps.tables.size;
  }

  /** The state before all events, when the initial rows are counted. */
  async start(): Promise<State> {
    const { initial, limits, rebuilt, events, maintainers } = this.#scenario;
    let table = this.#steps.tables.empty;
    let row = 0;
    let clock = startTime;
    for (const ages of initial) {
      clock = startTime - countedAgo(this.#scenario, ages);
      const records = ages.map((age) => {
        const createdAt = startTime - age * 1000;
        const after = createRow(row, createdAt, sourceOf(this.#scenario, row++));
        const write = { before: undefined, after };
        table = this.#steps.write(table, toCommand(write));
        return this.#steps.records.add(write, createdAt) ?? -1;
      });
      const program = maintainer(owner, this.#steps.records.changes(records), limits);
      ({ table } = await this.#steps.runs.run(program, { table, clock }));
    }
    if (rebuilt) ({ table } = await this.#steps.runs.run(rebuilder(owner, limits), { table, clock }));
    return {
      ...{ table, clock: startTime, events: events.map(() => 0), pending: 0 },
      ...{ records: [], past: [], listed: undefined },
      maintainers: maintainers.map(() => undefined),
      ...{ rebuild: undefined, reading: undefined, crashes: 0, rebuilds: 0, pages: 0 },
    };
  }

  key = (state: State) => stateKey(state, this.#scenario.maintainers);

  /** Checks what must hold in a state. */
  async check(state: State): Promise<void> {
    const open = openEvents(state);
    const quiet = !state.rebuild && state.maintainers.every((it) => !it);
    await this.#expectations.checkTotal(state.table, this.#steps.events.slack(open, {}), quiet);
    if (open !== 0) return;
    await this.#expectations.checkExact(state.table);
    if (state.listed) await this.#expectations.checkRemembered(state.listed, state);
  }

  /** Whether nothing has to happen any more. */
  isEnd({ events, pending, maintainers, rebuild, reading }: State): boolean {
    const happened = this.#steps.events.next(events).length === 0;
    return happened && pending === 0 && !rebuild && !reading && maintainers.every((it) => !it);
  }

  steps(state: State): Step[] {
    const steps = [
      ...this.#happen(state),
      ...this.#maintainers.all(state),
      ...rebuildSteps(state, this.#steps, this.#scenario),
      ...this.#readers.all(state),
    ];
    const read = this.#steps.events.writesFollow(state.events)
      ? undefined
      : steps.find(({ readsRows }) => readsRows)?.readsRows;
    const taken = read === undefined ? steps : steps.filter(({ readsRows }) => readsRows === read);
    return taken.map(({ label, take }) => ({
      label,
      take: async () => this.#readers.watched(await take()),
    }));
  }

  #happen(state: State): Step[] {
    return this.#steps.events.next(state.events).flatMap(({ event, number, happened }) => {
      const after = { ...state, events: happened };
      if (event.do === "pass")
        return this.#steps.pass(after, state.clock + event.time, "time passes", async (it) => it);
      if (event.do === "list") {
        const { table, clock, past } = state;
        return [undefined, ...past.slice(0, 1)].map((oldest) => ({
          label: `an environment lists${oldest ? " (late)" : ""}`,
          take: async () => ({ ...after, listed: { table, clock, late: oldest?.rows } }),
        }));
      }
      return this.#write(state, after, event, number);
    });
  }

  #write(state: State, after: State, event: WriteEvent, number: number): Step[] {
    const rows = this.#expectations.rows(state.table);
    const write = this.#steps.events.write(event, state.clock, rows);
    if (!write) return [];
    const { do: kind, row, ...what } = event;
    const take = async () => {
      const { tables, records } = this.#steps;
      const record = records.add(write, state.clock);
      const until = state.clock + indexLag;
      const past =
        this.#scenario.sources && state.past.at(-1)?.until !== until
          ? [...state.past, { rows: tables.withoutTrees(state.table), until }]
          : state.past;
      return {
        ...after,
        ...{ table: this.#steps.write(state.table, toCommand(write)), past },
        pending: state.pending | (record === undefined ? 0 : 1 << number),
        records: Object.assign([...state.records], { [number]: record }),
      };
    };
    return [{ label: `row ${row}: ${kind} ${Object.values(what).join(" ")}`, take }];
  }
}
