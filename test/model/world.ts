import { DeleteCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { toLead } from "../../shared/domain/leads.ts";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { leadKey, listPartition } from "../../shared/dynamodb/keys.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { type Actor, Actors } from "./actors.ts";
import { Expectations } from "./expectations.ts";
import { maintainer, type ReadPage, reader, rebuilder } from "./programs.ts";
import { checkReading, rowBits, type Slack, watch } from "./reading.ts";
import {
  account,
  createLead,
  type Event,
  landsWithin,
  putLead,
  rowNumber,
  type Scenario,
  startTime,
} from "./scenario.ts";
import { type State, stateKey } from "./state.ts";
import { type Outcome, type TableState, Tables } from "./tables.ts";
import { Numbers } from "./texts.ts";

/** A step from one state to another. */
export interface Step {
  readonly label: string;
  /** Whether it is a call that reads rows: while no row changes, it gives the same result at any time. */
  readonly readsRows?: boolean;
  take(): Promise<State>;
}

/** The end of a wait. */
const over: Outcome = { value: undefined, number: -1 };

/** The states of a scenario, and the steps between them. */
export class World {
  readonly tables = new Tables();
  readonly actors: Actors;
  readonly #requests = new Numbers();
  readonly #expectations: Expectations;
  readonly #scenario: Scenario;
  readonly #events: readonly Event[];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#events = scenario.events.flat();
    this.actors = new Actors(this.#requests);
    this.#expectations = new Expectations(this.tables, this.actors);
  }

  /** The state before all events, when the initial rows are counted. */
  async start(): Promise<State> {
    const { initial, limits, rebuilt, events, maintainers } = this.#scenario;
    const clock = startTime - 10_000;
    let table = this.tables.empty;
    let row = 0;
    for (const ages of initial) {
      const leads = ages.map((age) => createLead(row++, startTime - age * 1000));
      for (const lead of leads) table = this.#write(table, putLead(lead));
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
    await this.#expectations.checkTotal(state.table, this.#slack(open), quiet);
    if (open === 0) await this.#expectations.checkExact(state.table);
  }

  /** Whether nothing has to happen any more. */
  isEnd({ events, pending, maintainers, rebuild, reading }: State): boolean {
    const happened = this.#scenario.events.every(({ length }, i) => events[i] === length);
    return happened && pending === 0 && !rebuild && !reading && maintainers.every((it) => !it);
  }

  steps(state: State): Step[] {
    const steps = [
      ...state.events.flatMap((_, sequence) => this.#happen(state, sequence)),
      ...Array.from(state.maintainers.keys()).flatMap((slot) => this.#maintain(state, slot)),
      ...this.#rebuild(state),
      ...this.#read(state),
    ];
    const constant = this.#rowsChange(state) ? undefined : steps.find(({ readsRows }) => readsRows);
    const taken = constant ? [constant] : steps;
    return taken.map(({ label, take }) => ({ label, take: async () => this.#watched(await take()) }));
  }

  /** Whether an event that writes a row has not happened yet. */
  #rowsChange({ events }: State): boolean {
    return this.#scenario.events.some((sequence, i) =>
      sequence.slice(events[i]).some((event) => event.do !== "pass"),
    );
  }

  #happen(state: State, sequence: number): Step[] {
    const { events } = this.#scenario;
    const at = state.events[sequence] ?? 0;
    const event = events[sequence]?.[at];
    if (!event) return [];
    const number = events.slice(0, sequence).flat().length + at;
    const happened = { ...state, events: state.events.with(sequence, at + 1) };
    if (event.do === "pass")
      return this.#pass(happened, state.clock + event.time, "time passes", async (it) => it);
    const command = this.#command(state, event);
    if (!command) return [];
    const take = async () => ({
      ...happened,
      table: this.#write(state.table, command),
      pending: state.pending | (1 << number),
    });
    return [{ label: `row ${event.row}: ${event.do} ${event.do === "change" ? event.status : ""}`, take }];
  }

  /** The write of an event, when it can happen. */
  #command({ table, clock }: State, event: Exclude<Event, { do: "pass" }>) {
    if (event.do === "create" || event.do === "import") {
      const createdAt = startTime + event.at;
      return clock < createdAt ? undefined : putLead(createLead(event.row, createdAt));
    }
    const item = this.#expectations.rows(table).find(({ id }) => rowNumber(String(id)) === event.row);
    if (!item) return undefined;
    const lead = toLead(item);
    if (event.do === "change") return putLead({ ...lead, status: event.status });
    return new DeleteCommand({ TableName: tableName, Key: leadKey(account, lead.id) });
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
        label: `${name} gets ${this.#keys(batch)}`,
        take: async () => ({
          ...set({
            actor: await this.actors.start(maintainer(this.#keys(batch), limits, skew), state.clock),
            batch,
          }),
          pending: pending & ~batch,
        }),
      }));
    }
    const { actor, batch } = working;
    return [
      ...this.#answer(state, name, actor, (next, after) => {
        if (next.end) return { ...after, maintainers: after.maintainers.with(slot, undefined) };
        return { ...after, maintainers: after.maintainers.with(slot, { actor: next, batch }) };
      }),
      ...this.#crash(state, name, { ...set(undefined), pending: state.pending | batch }),
    ];
  }

  #rebuild(state: State): Step[] {
    const { rebuild } = state;
    if (!rebuild) {
      if (state.rebuilds >= (this.#scenario.rebuilds ?? 0)) return [];
      const take = async () => ({
        ...state,
        rebuilds: state.rebuilds + 1,
        rebuild: await this.actors.start(rebuilder(this.#scenario.limits), state.clock),
      });
      return [{ label: "a rebuild starts", take }];
    }
    return [
      ...this.#answer(state, "rebuild", rebuild, (next, after) => ({
        ...after,
        rebuild: next.end ? undefined : next,
      })),
      ...this.#crash(state, "rebuild", { ...state, rebuild: undefined }),
    ];
  }

  #read(state: State): Step[] {
    const { reading } = state;
    if (!reading) {
      const page = this.#scenario.pages?.[state.pages];
      if (page === undefined) return [];
      const bits = rowBits(this.#expectations.rows(state.table));
      const take = async () => {
        const actor = await this.actors.start(reader(page), state.clock);
        return {
          ...state,
          pages: state.pages + 1,
          reading: { actor, page, always: bits, ever: bits, imported: 0, deleted: 0 },
        };
      };
      return [{ label: `a reader of page ${page} starts`, take }];
    }
    return this.#answer(state, "reader", reading.actor, (actor, after) => {
      if (!actor.end) return { ...after, reading: { ...reading, actor } };
      if ("value" in actor.end) checkReading(reading, actor.end.value as ReadPage);
      return { ...after, reading: undefined };
    });
  }

  /** The steps of an actor: the answer to each of its requests. */
  #answer(state: State, name: string, actor: Actor, set: (actor: Actor, state: State) => State): Step[] {
    return actor.requests.flatMap((request) => {
      const label = `${name}: ${request.label}`;
      const resume = async (after: State, outcome: Outcome) => {
        const next = await this.actors.resume(actor, request, outcome, after.clock);
        if (next.end && "error" in next.end && !isBusy(next.end.error)) throw next.end.error;
        return set(next, after);
      };
      if (!request.command)
        return this.#pass(state, request.until ?? 0, label, (after) => resume(after, over));
      const { command, number } = request;
      const take = () => {
        const { table, outcome } = this.tables.run(state.table, command, number);
        return resume({ ...state, table }, outcome);
      };
      return [{ label, take, readsRows: readsRows(command) }];
    });
  }

  /** The step to a time, unless a route's write has to land before. */
  #pass(state: State, time: number, label: string, take: (state: State) => Promise<State>): Step[] {
    const clock = Math.max(state.clock, time);
    const late = this.#scenario.events.some((events, i) =>
      events
        .slice(state.events[i])
        .some((event) => event.do === "create" && startTime + event.at + landsWithin < clock),
    );
    return late ? [] : [{ label, take: () => take({ ...state, clock }) }];
  }

  #crash(state: State, name: string, after: State): Step[] {
    if (state.crashes >= (this.#scenario.crashes ?? 0)) return [];
    return [{ label: `${name} crashes`, take: async () => ({ ...after, crashes: state.crashes + 1 }) }];
  }

  #watched(state: State): State {
    if (!state.reading) return state;
    const rows = this.#expectations.rows(state.table);
    return { ...state, reading: watch(state.reading, rows, this.#slack(this.#open(state))) };
  }

  /** The changes that no maintainer has finished counting. */
  #open = ({ pending, maintainers }: State) =>
    maintainers.reduce((open, it) => open | (it?.batch ?? 0), pending);

  #slack(open: number): Slack {
    const count = (kind: Event["do"]) =>
      this.#events.filter((event, i) => event.do === kind && open & (1 << i)).length;
    return { imported: count("import"), deleted: count("delete") };
  }

  /** The sort keys of the rows of changes. */
  #keys(changes: number): string[] {
    return this.#events.flatMap((event, i) => {
      if (event.do === "pass" || !(changes & (1 << i))) return [];
      return this.#keyOf(event.row);
    });
  }

  #keyOf(row: number): string {
    const { initial } = this.#scenario;
    const age = initial.flat()[row];
    if (age !== undefined) return createLead(row, startTime - age * 1000).id;
    const event = this.#events.find((it) => (it.do === "create" || it.do === "import") && it.row === row);
    if (!event || !("at" in event)) throw new Error(`The scenario has no row ${row}.`);
    return createLead(row, startTime + event.at).id;
  }

  #write(table: TableState, command: object): TableState {
    const number = this.#requests.of(`write ${JSON.stringify(Reflect.get(command, "input"))}`);
    return this.tables.run(table, command, number).table;
  }
}

/** Whether a command reads rows, from the table or from an index. */
function readsRows(command: object): boolean {
  const { ExpressionAttributeValues = {} } = Reflect.get(command, "input") as {
    ExpressionAttributeValues?: object;
  };
  const values = Object.values(ExpressionAttributeValues);
  return (
    command instanceof QueryCommand &&
    values.some((value) => String(value).startsWith(listPartition("lead", account)))
  );
}
