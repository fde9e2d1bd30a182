import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { type Actor, Actors } from "./actors.ts";
import { isEventual, readsRows } from "./commands.ts";
import { Events } from "./events.ts";
import { Records } from "./records.ts";
import { Runs } from "./runs.ts";
import type { Request } from "./runtime.ts";
import type { Scenario } from "./scenario.ts";
import type { State } from "./state.ts";
import { type Outcome, type TableState, Tables } from "./tables.ts";
import { Numbers } from "./texts.ts";

/** A step from one state to another. */
export interface Step {
  readonly label: string;
  /** The request that it answers if that only reads rows: while no row changes, it gives the same result at any time. */
  readonly readsRows?: string | undefined;
  take(): Promise<State>;
}

/** The end of a wait. */
const over: Outcome = { value: undefined, number: -1 };

/** Makes the steps of a scenario's actors, its clock and its table. */
export class Steps {
  readonly tables = new Tables();
  readonly events: Events;
  readonly records = new Records();
  readonly #requests = new Numbers();
  readonly actors = new Actors(this.#requests);
  readonly runs = new Runs(this.tables, this.actors);
  readonly #crashes: number;

  constructor(scenario: Scenario) {
    this.events = new Events(scenario);
    this.#crashes = scenario.crashes ?? 0;
  }

  /**
   * The steps of an actor: the answers to each of its requests.
   *
   * @param set puts the actor into the state; it may have ended, with an error only if the table is busy
   */
  answer(state: State, name: string, actor: Actor, set: (actor: Actor, state: State) => State): Step[] {
    return actor.requests.flatMap((request) => {
      const label = `${name}: ${request.label}`;
      const resume = async (after: State, outcome: Outcome) => {
        const next = await this.actors.resume(actor, request, outcome, after.clock);
        if (next.end && "error" in next.end && !isBusy(next.end.error)) throw next.end.error;
        return set(next, after);
      };
      if (!request.command)
        return this.pass(state, request.until ?? 0, label, (after) => resume(after, over));
      const { command, number } = request;
      const reads = readsRows(command) ? `${name} ${request.name}` : undefined;
      const take = () => {
        const { table, outcome } = this.tables.run(state.table, command, number);
        return resume({ ...state, table }, outcome);
      };
      const late = this.#lateOutcome(state, request);
      const steps = [{ label, readsRows: reads, take }];
      if (late) steps.push({ label: `${label} (late)`, readsRows: reads, take: () => resume(state, late) });
      return steps;
    });
  }

  /** What an index may answer that does not have the last writes, if that differs. */
  #lateOutcome({ table, past }: State, { command, number }: Request): Outcome | undefined {
    const [oldest] = past;
    if (!oldest || !command || !isEventual(command)) return undefined;
    const { outcome } = this.tables.run(oldest.rows, command, number);
    return outcome.number === this.tables.run(table, command, number).outcome.number ? undefined : outcome;
  }

  /** The step to a time, unless a route's write has to land before. */
  pass(state: State, time: number, label: string, take: (state: State) => Promise<State>): Step[] {
    const clock = Math.max(state.clock, time);
    if (this.events.landsBefore(state.events, clock)) return [];
    const past = state.past.filter(({ until }) => until > clock);
    return [{ label, take: () => take({ ...state, clock, past }) }];
  }

  /** The crash of an actor, if another may crash. */
  crash(state: State, name: string, after: State): Step[] {
    if (state.crashes >= this.#crashes) return [];
    return [{ label: `${name} crashes`, take: async () => ({ ...after, crashes: state.crashes + 1 }) }];
  }

  /** The table after a command that comes from no actor. */
  write(table: TableState, command: object): TableState {
    const number = this.#requests.of(`write ${JSON.stringify(Reflect.get(command, "input"))}`);
    return this.tables.run(table, command, number).table;
  }
}
