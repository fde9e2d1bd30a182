import { Execution, type Request } from "../runtime.ts";
import type { Outcome, TableState, Tables } from "../tables.ts";
import { Numbers } from "../texts.ts";

/** Code of the product that runs concurrently with other code. Programs with equal names do the same. */
export interface Program {
  readonly name: string;
  /** How far its clock is ahead, in milliseconds. */
  readonly skew: number;
  readonly run: () => Promise<unknown>;
}

/** An answer that an actor has received, and the clock at that time. */
interface Answer {
  readonly request: string;
  readonly outcome: Outcome;
  readonly clock: number;
}

/** The course of an actor: its program and the answers that it has received. */
interface Course {
  readonly program: Program;
  /** The clock at its start. */
  readonly start: number;
  readonly answers: readonly Answer[];
}

export const waitIsOver: Outcome = { value: undefined, number: -1 };

/** The state of an actor. The answers that it has received determine its next requests. */
export interface Actor extends Course {
  readonly number: number;
  readonly requests: readonly Request[];
  readonly end: Execution["end"];
}

/**
 * Runs each actor by itself, because an actor depends only on its answers and on the clock. So its state is computed once
 * for each list of answers. The first answer to an actor continues its execution. For other answers, its program first runs
 * again with the same earlier answers.
 */
export class Actors {
  readonly #actors = new Map<string, Actor>();
  readonly #next = new Map<string, Actor>();
  /** Executions that wait for the next answer to their actors. */
  readonly #executions = new Map<Actor, Execution>();
  readonly #texts = new Numbers();
  readonly #requests: Numbers;

  constructor(requests: Numbers) {
    this.#requests = requests;
  }

  async start(program: Program, clock: number): Promise<Actor> {
    const key = `${program.name} ${clock}`;
    return this.#next.get(key) ?? this.#reach(key, { program, start: clock, answers: [] });
  }

  /** The actor after an answer to one of its requests. */
  async resume(actor: Actor, { name, number }: Request, outcome: Outcome, clock: number): Promise<Actor> {
    const key = `${actor.number} ${number} ${outcome.number} ${clock}`;
    const known = this.#next.get(key);
    if (known) return known;
    const answers = [...actor.answers, { request: name, outcome, clock }];
    return this.#reach(key, { program: actor.program, start: actor.start, answers }, actor);
  }

  /** Runs a program to its end, with no other actor between its calls. @returns the state of the table, and the result */
  async runAlone(program: Program, table: TableState, clock: number, tables: Tables) {
    let actor = await this.start(program, clock);
    while (!actor.end) {
      const [request] = actor.requests;
      if (!request) throw new Error(`${program.name} makes no request.`);
      const { command, number, until = clock } = request;
      const result = command && tables.run(table, command, number);
      table = result?.table ?? table;
      clock = Math.max(clock, until);
      actor = await this.resume(actor, request, result?.outcome ?? waitIsOver, clock);
    }
    if ("error" in actor.end) throw actor.end.error;
    return { table, result: actor.end.value };
  }

  async #reach(key: string, course: Course, before?: Actor): Promise<Actor> {
    const { program, start, answers } = course;
    // Requests that were made at once can be answered in any order, with the same result.
    const set = answers.map(({ request, outcome, clock }) =>
      this.#texts.of(`${request} ${outcome.number} ${clock}`),
    );
    const history = `${this.#texts.of(program.name)} ${start} ${set.sort((a, b) => a - b)}`;
    const actor = this.#actors.get(history) ?? (await this.#run(course, before));
    this.#actors.set(history, actor);
    this.#next.set(key, actor);
    return actor;
  }

  async #run(course: Course, before: Actor | undefined): Promise<Actor> {
    const execution = (before && this.#continue(before)) ?? (await this.#repeat(course, before));
    const last = course.answers.at(-1);
    if (last) await execution.answer(last.request, last.outcome, last.clock);
    const { requests, end } = execution;
    if (!end && requests.length === 0) throw new Error(`${course.program.name} waits for nothing.`);
    const actor = { number: this.#actors.size, ...course, requests, end };
    if (!end) this.#executions.set(actor, execution);
    return actor;
  }

  /** The execution that waits for the next answer to an actor, if no answer has continued it. */
  #continue(actor: Actor): Execution | undefined {
    const execution = this.#executions.get(actor);
    this.#executions.delete(actor);
    return execution;
  }

  /** Runs a program up to an actor, or to its first requests. */
  async #repeat({ program, start }: Course, to: Actor | undefined): Promise<Execution> {
    const execution = new Execution(program.skew, this.#requests);
    await execution.start(program.run, start);
    for (const { request, outcome, clock } of to?.answers ?? [])
      await execution.answer(request, outcome, clock);
    return execution;
  }
}
