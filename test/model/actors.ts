import { Execution, type Request } from "./runtime.ts";
import type { Outcome } from "./tables.ts";
import { Numbers } from "./texts.ts";

/** Code of the product that runs concurrently with others; equal names run equally. */
export interface Program {
  readonly name: string;
  /** How far its clock is ahead, in milliseconds. */
  readonly skew: number;
  readonly run: () => Promise<unknown>;
}

/** A request of an actor; equal requests have the same number. */
export interface NumberedRequest extends Request {
  readonly number: number;
}

/** An answer that an actor has got, and the clock at that time. */
interface Answer {
  readonly request: string;
  readonly outcome: Outcome;
  readonly clock: number;
}

/** The state of an actor: what it has been answered determines what it requests next. */
export interface Actor {
  readonly number: number;
  readonly program: Program;
  readonly requests: readonly NumberedRequest[];
  readonly end: Execution["end"];
  /** The clock at its start. */
  readonly start: number;
  readonly answers: readonly Answer[];
}

/**
 * Runs actors one by one, apart from the others: an actor depends only on its answers and on the clock, so its state is
 * found by running its program again with the same answers, once for each list of answers.
 */
export class Actors {
  readonly #actors = new Map<string, Actor>();
  readonly #next = new Map<string, Actor>();
  readonly #texts = new Numbers();
  readonly #requests: Numbers;

  constructor(requests: Numbers) {
    this.#requests = requests;
  }

  /** How many states actors have had. */
  get size(): number {
    return this.#actors.size;
  }

  async start(program: Program, clock: number): Promise<Actor> {
    const key = `${program.name} ${clock}`;
    return this.#next.get(key) ?? this.#reach(key, program, clock, []);
  }

  /** The actor after an answer to one of its requests. */
  resume(actor: Actor, { name, number }: NumberedRequest, outcome: Outcome, clock: number) {
    const key = `${actor.number} ${number} ${outcome.number} ${clock}`;
    const { program, start, answers } = actor;
    return (
      this.#next.get(key) ?? this.#reach(key, program, start, [...answers, { request: name, outcome, clock }])
    );
  }

  async #reach(key: string, program: Program, start: number, answers: readonly Answer[]): Promise<Actor> {
    // Answers to requests that were made at once count in any order.
    const set = answers.map(({ request, outcome, clock }) =>
      this.#texts.of(`${request} ${outcome.number} ${clock}`),
    );
    const history = `${this.#texts.of(program.name)} ${start} ${set.sort((a, b) => a - b)}`;
    const actor = this.#actors.get(history) ?? (await this.#run(program, start, answers));
    this.#actors.set(history, actor);
    this.#next.set(key, actor);
    return actor;
  }

  async #run(program: Program, start: number, answers: readonly Answer[]): Promise<Actor> {
    const execution = new Execution(program.skew);
    await execution.start(program.run, start);
    for (const { request, outcome, clock } of answers) await execution.answer(request, outcome, clock);
    const { requests, end } = execution;
    if (!end && requests.length === 0) throw new Error(`${program.name} waits for nothing.`);
    const numbered = requests.map((request) => ({ ...request, number: this.#requests.of(request.text) }));
    return { number: this.#actors.size, program, requests: numbered, end, start, answers };
  }
}
