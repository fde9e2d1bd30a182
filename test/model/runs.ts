import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import type { Actors, Program } from "./actors.ts";
import type { ReadPage } from "./programs.ts";
import type { Moment } from "./state.ts";
import type { Tables } from "./tables.ts";

/** Programs that run to their ends with no other between their calls. */
export class Runs {
  readonly #tables: Tables;
  readonly #actors: Actors;

  constructor(tables: Tables, actors: Actors) {
    this.#tables = tables;
    this.#actors = actors;
  }

  /** Runs a program. @returns the state of the table, and the result */
  async run(program: Program, { table, clock }: Moment) {
    let actor = await this.#actors.start(program, clock);
    while (!actor.end) {
      const [request] = actor.requests;
      if (!request) throw new Error(`${program.name} makes no request.`);
      const { command, number } = request;
      if (command) {
        const result = this.#tables.run(table, command, number);
        table = result.table;
        actor = await this.#actors.resume(actor, request, result.outcome, clock);
      } else {
        clock = Math.max(clock, request.until ?? clock);
        actor = await this.#actors.resume(actor, request, { value: undefined, number: -1 }, clock);
      }
    }
    if ("error" in actor.end) throw actor.end.error;
    return { table, result: actor.end.value };
  }

  /** Runs a reader. */
  async read(program: Program, moment: Moment): Promise<ReadPage | "busy"> {
    try {
      return (await this.run(program, moment)).result as ReadPage;
    } catch (error) {
      if (isBusy(error)) return "busy";
      throw error;
    }
  }
}
