import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { listPartition } from "../../shared/dynamodb/keys.ts";
import { type Actor, Actors } from "./actors.ts";
import { Events } from "./events.ts";
import { account, type Scenario } from "./scenario.ts";
import type { State } from "./state.ts";
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

/** Makes the steps of a scenario's actors, its clock and its table. */
export class Steps {
  readonly tables = new Tables();
  readonly events: Events;
  readonly #requests = new Numbers();
  readonly actors = new Actors(this.#requests);
  readonly #crashes: number;

  constructor(scenario: Scenario) {
    this.events = new Events(scenario);
    this.#crashes = scenario.crashes ?? 0;
  }

  /**
   * The steps of an actor: the answer to each of its requests.
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
      const take = () => {
        const { table, outcome } = this.tables.run(state.table, command, number);
        return resume({ ...state, table }, outcome);
      };
      return [{ label, take, readsRows: readsRows(command) }];
    });
  }

  /** The step to a time, unless a route's write has to land before. */
  pass(state: State, time: number, label: string, take: (state: State) => Promise<State>): Step[] {
    const clock = Math.max(state.clock, time);
    if (this.events.landsBefore(state.events, clock)) return [];
    return [{ label, take: () => take({ ...state, clock }) }];
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

/** Whether a command reads rows, from the table or from an index. */
function readsRows(command: object): boolean {
  const { ExpressionAttributeValues = {} } = Reflect.get(command, "input") as {
    ExpressionAttributeValues?: object;
  };
  const rows = listPartition("lead", account);
  return (
    command instanceof QueryCommand &&
    Object.values(ExpressionAttributeValues).some((value) => String(value).startsWith(rows))
  );
}
