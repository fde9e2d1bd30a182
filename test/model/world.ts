import { Expectations } from "./expectations.ts";
import { maintainer, type ReadPage, reader, rebuilder } from "./programs.ts";
import { checkReading, rowBits, watch } from "./reading.ts";
import { createLead, putLead, type Scenario, startTime } from "./scenario.ts";
import { type State, stateKey } from "./state.ts";
import { type Step, Steps } from "./steps.ts";

/** The states of a scenario, and the steps between them. */
export class World {
  readonly #steps: Steps;
  readonly #expectations: Expectations;
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#steps = new Steps(scenario);
    this.#expectations = new Expectations(this.#steps.tables, this.#steps.actors);
  }

  /** How many states the table has had. */
  get tables(): number {
    return this.#steps.tables.size;
  }

  /** The state before all events, when the initial rows are counted. */
  async start(): Promise<State> {
    const { initial, limits, rebuilt, events, maintainers } = this.#scenario;
    const clock = startTime - 10_000;
    let table = this.#steps.tables.empty;
    let row = 0;
    for (const ages of initial) {
      const leads = ages.map((age) => createLead(row++, startTime - age * 1000));
      for (const lead of leads) table = this.#steps.write(table, putLead(lead));
      const program = maintainer(
        leads.map(({ id }) => id),
        limits,
      );
      ({ table } = await this.#expectations.run(program, table, clock));
    }
    if (rebuilt) ({ table } = await this.#expectations.run(rebuilder(limits), table, clock));
    return {
      ...{ table, clock: startTime, events: events.map(() => 0), pending: 0 },
      maintainers: maintainers.map(() => undefined),
      ...{ rebuild: undefined, reading: undefined, crashes: 0, rebuilds: 0, pages: 0 },
    };
  }

  key = (state: State) => stateKey(state, this.#scenario.maintainers);

  /** Checks what must hold in a state. */
  async check(state: State): Promise<void> {
    const open = this.#open(state);
    const quiet = !state.rebuild && state.maintainers.every((it) => !it);
    await this.#expectations.checkTotal(state.table, this.#steps.events.slack(open), quiet);
    if (open === 0) await this.#expectations.checkExact(state.table);
  }

  /** Whether nothing has to happen any more. */
  isEnd({ events, pending, maintainers, rebuild, reading }: State): boolean {
    const happened = this.#steps.events.next(events).length === 0;
    return happened && pending === 0 && !rebuild && !reading && maintainers.every((it) => !it);
  }

  steps(state: State): Step[] {
    const steps = [
      ...this.#happen(state),
      ...Array.from(state.maintainers.keys()).flatMap((slot) => this.#maintain(state, slot)),
      ...this.#rebuild(state),
      ...this.#read(state),
    ];
    const constant = this.#steps.events.writesFollow(state.events)
      ? undefined
      : steps.find(({ readsRows }) => readsRows);
    const taken = constant ? [constant] : steps;
    return taken.map(({ label, take }) => ({ label, take: async () => this.#watched(await take()) }));
  }

  #happen(state: State): Step[] {
    return this.#steps.events.next(state.events).flatMap(({ event, number, happened }) => {
      const after = { ...state, events: happened };
      if (event.do === "pass")
        return this.#steps.pass(after, state.clock + event.time, "time passes", async (it) => it);
      const rows = this.#expectations.rows(state.table);
      const command = this.#steps.events.command(event, state.clock, rows);
      if (!command) return [];
      const take = async () => ({
        ...after,
        table: this.#steps.write(state.table, command),
        pending: state.pending | (1 << number),
      });
      return [{ label: `row ${event.row}: ${event.do} ${event.do === "change" ? event.status : ""}`, take }];
    });
  }

  #maintain(state: State, slot: number): Step[] {
    const name = `maintainer ${slot + 1}`;
    const set = (working: State["maintainers"][number]) => ({
      ...state,
      maintainers: state.maintainers.with(slot, working),
    });
    const working = state.maintainers[slot];
    if (!working) {
      const { pending } = state;
      // The slots before it with the same clock are as good.
      const { maintainers, limits } = this.#scenario;
      const skew = maintainers[slot] ?? 0;
      const free = maintainers.findIndex((other, i) => other === skew && !state.maintainers[i]);
      const first = pending & -pending;
      const batches = pending === 0 || free !== slot ? [] : first === pending ? [pending] : [pending, first];
      return batches.map((batch) => ({
        label: `${name} gets ${this.#steps.events.keys(batch)}`,
        take: async () => ({
          ...set({
            actor: await this.#steps.actors.start(
              maintainer(this.#steps.events.keys(batch), limits, skew),
              state.clock,
            ),
            batch,
          }),
          pending: pending & ~batch,
        }),
      }));
    }
    const { actor, batch } = working;
    return [
      ...this.#steps.answer(state, name, actor, (next, after) => {
        const failed = next.end && "error" in next.end ? batch : 0;
        if (next.end)
          return {
            ...after,
            maintainers: after.maintainers.with(slot, undefined),
            pending: after.pending | failed,
          };
        return { ...after, maintainers: after.maintainers.with(slot, { actor: next, batch }) };
      }),
      ...this.#steps.crash(state, name, { ...set(undefined), pending: state.pending | batch }),
    ];
  }

  #rebuild(state: State): Step[] {
    const { rebuild } = state;
    if (!rebuild) {
      if (state.rebuilds >= (this.#scenario.rebuilds ?? 0)) return [];
      const take = async () => ({
        ...state,
        rebuilds: state.rebuilds + 1,
        rebuild: await this.#steps.actors.start(rebuilder(this.#scenario.limits), state.clock),
      });
      return [{ label: "a rebuild starts", take }];
    }
    return [
      ...this.#steps.answer(state, "rebuild", rebuild, (next, after) => ({
        ...after,
        rebuild: next.end ? undefined : next,
      })),
      ...this.#steps.crash(state, "rebuild", { ...state, rebuild: undefined }),
    ];
  }

  #read(state: State): Step[] {
    const { reading } = state;
    if (!reading) {
      const page = this.#scenario.pages?.[state.pages];
      if (page === undefined) return [];
      const bits = rowBits(this.#expectations.rows(state.table));
      const take = async () => {
        const actor = await this.#steps.actors.start(reader(page), state.clock);
        return {
          ...state,
          pages: state.pages + 1,
          reading: { actor, page, always: bits, ever: bits, imported: 0, deleted: 0 },
        };
      };
      return [{ label: `a reader of page ${page} starts`, take }];
    }
    return this.#steps.answer(state, "reader", reading.actor, (actor, after) => {
      if (!actor.end) return { ...after, reading: { ...reading, actor } };
      if ("value" in actor.end) checkReading(reading, actor.end.value as ReadPage);
      return { ...after, reading: undefined };
    });
  }

  #watched(state: State): State {
    if (!state.reading) return state;
    const rows = this.#expectations.rows(state.table);
    return { ...state, reading: watch(state.reading, rows, this.#steps.events.slack(this.#open(state))) };
  }

  /** The changes that no maintainer has finished counting. */
  #open = ({ pending, maintainers }: State) =>
    maintainers.reduce((open, it) => open | (it?.batch ?? 0), pending);
}
