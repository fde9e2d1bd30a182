import { GetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { keyedItems } from "../../support/tables/keyed-items.ts";
import type { Request } from "../runtime.ts";
import type { Scenario } from "../scenario.ts";
import type { State, Transaction } from "../state.ts";
import { type Outcome, type TableState, Tables } from "../tables.ts";
import { Numbers } from "../texts.ts";
import { type Actor, Actors, waitIsOver } from "./actors.ts";
import { eventsOf, Records } from "./events.ts";

/** A step from one state to another. */
export interface Step {
  readonly label: string;
  take(): Promise<State>;
}

/** Makes the steps of a scenario's actors, its clock and its table. */
export class Steps {
  readonly tables = new Tables();
  readonly events: ReturnType<typeof eventsOf>;
  readonly records = new Records();
  readonly #requests = new Numbers();
  readonly actors = new Actors(this.#requests);
  readonly #crashes: number;
  readonly #torn: number;

  constructor(scenario: Scenario) {
    this.events = eventsOf(scenario);
    this.#crashes = scenario.crashes ?? 0;
    this.#torn = scenario.torn ?? 0;
  }

  /**
   * The steps of an actor: the answers to each of its requests.
   *
   * @param set puts the actor into the state after the answer to a request
   */
  answer(
    state: State,
    name: string,
    actor: Actor,
    set: (actor: Actor, state: State, request: Request) => State,
  ): Step[] {
    return actor.requests.flatMap((request) => {
      const label = `${name}: ${request.label}`;
      const resume = async (after: State, outcome: Outcome) =>
        set(await this.actors.resume(actor, request, outcome, after.clock), after, request);
      const { command, number } = request;
      if (!command) return this.pass(state, request.until ?? 0, label, (after) => resume(after, waitIsOver));
      const { underWay } = state;
      if (underWay?.actor === name && underWay.request === request.name) {
        const take = () => resume({ ...state, underWay: undefined }, underWay.outcome);
        return [{ label: `${label} (answered)`, take }];
      }
      // DynamoDB rejects such a call. The step is left out, because an actor that retries forever would have endless states.
      if (isInConflict(command, underWay?.transaction)) return [];
      const take = async () => {
        const { table, outcome } = this.tables.run(state.table, command, number);
        const after = { ...state, table };
        const isTorn = this.#torn > 0 && !underWay && command instanceof TransactWriteCommand;
        if (!isTorn || table === state.table) return resume(after, outcome);
        const transaction = { command, before: state.table, misses: this.#torn };
        return { ...after, underWay: { actor: name, request: request.name, outcome, transaction } };
      };
      const missed = this.#miss(state, command, number);
      return [
        { label, take },
        ...missed.map(({ after, outcome }) => ({
          label: `${label} (as before)`,
          take: () => resume(after, outcome),
        })),
      ];
    });
  }

  /** The answer to a single read that misses the transaction in progress, if this answer differs. */
  #miss(state: State, command: object, number: number) {
    const { underWay } = state;
    if (!underWay || underWay.transaction.misses === 0) return [];
    const { transaction } = underWay;
    if (!sharesItem(command, transaction)) return [];
    const { outcome } = this.tables.run(transaction.before, command, number);
    if (outcome.number === this.tables.run(state.table, command, number).outcome.number) return [];
    const left = { ...transaction, misses: transaction.misses - 1 };
    return [{ after: { ...state, underWay: { ...underWay, transaction: left } }, outcome }];
  }

  /** The step to a time, unless the write of a route must land before this time. */
  pass(state: State, time: number, label: string, take: (state: State) => Promise<State>): Step[] {
    const clock = Math.max(state.clock, time);
    if (this.events.landsBefore(state.events, clock)) return [];
    return [{ label, take: () => take({ ...state, clock }) }];
  }

  /** The crash of an actor, if one more crash is allowed. */
  crash(state: State, name: string, after: State): Step[] {
    if (state.crashes >= this.#crashes) return [];
    const underWay = state.underWay?.actor === name ? undefined : state.underWay;
    const crashed = { ...after, underWay, crashes: state.crashes + 1 };
    return [{ label: `${name} crashes`, take: async () => crashed }];
  }

  /** The table after a command that no actor has sent. */
  write(table: TableState, command: object): TableState {
    const number = this.#requests.of(`write ${JSON.stringify(Reflect.get(command, "input"))}`);
    return this.tables.run(table, command, number).table;
  }
}

function sharesItem(command: object, transaction: Transaction): boolean {
  const items = keyedItems(transaction.command);
  return keyedItems(command).some((item) => items.includes(item));
}

/** Whether a call cannot be served while a transaction is in progress. */
const isInConflict = (command: object, transaction: Transaction | undefined) =>
  transaction !== undefined && !(command instanceof GetCommand) && sharesItem(command, transaction);
