import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { table } from "../../shared/dynamodb/table-client.ts";
import type { Outcome } from "./tables.ts";
import { type Numbers, toText } from "./texts.ts";

/** A call of the table or a wait that running code has begun, and that has not ended. */
export interface Request {
  /** Identifies it among all requests of the code. */
  readonly name: string;
  /** The number of its text, which equal requests share. Code may make the same request several times. */
  readonly number: number;
  /** A short form of the text. */
  readonly label: string;
  /** The command of a call. */
  readonly command?: object;
  /** When a wait ends, in milliseconds since the epoch. */
  readonly until?: number;
}

let running: Execution | undefined;
let now = 0;

/** Runs code of the product until it waits for its requests. Only one execution runs at a time. */
export class Execution {
  /** The result of the code, or its error. */
  end: { readonly value: unknown } | { readonly error: unknown } | undefined;
  readonly #open = new Map<string, { request: Request; answer: (outcome: Outcome) => void }>();
  readonly #occurrences = new Map<number, number>();
  readonly #skew: number;
  readonly #numbers: Numbers;

  /**
   * @param skew how far the clock of the code is ahead, in milliseconds
   * @param numbers the numbers of requests
   */
  constructor(skew: number, numbers: Numbers) {
    this.#skew = skew;
    this.#numbers = numbers;
  }

  get requests(): readonly Request[] {
    return Array.from(this.#open.values(), ({ request }) => request);
  }

  /** Starts code at a time. It stops at its first requests. */
  async start(run: () => Promise<unknown>, clock: number): Promise<void> {
    this.#enter(clock);
    run().then(
      (value) => {
        this.end = { value };
      },
      (error: unknown) => {
        this.end = { error };
      },
    );
    await settled();
  }

  /** Answers a request. The code stops at its next requests. */
  async answer(name: string, outcome: Outcome, clock: number): Promise<void> {
    const open = this.#open.get(name);
    if (!open) throw new Error(`The code has not made the request ${name} again: it is not deterministic.`);
    this.#open.delete(name);
    this.#enter(clock);
    open.answer(outcome);
    await settled();
  }

  request(
    label: string,
    text: string,
    what: Pick<Request, "command"> | { readonly wait: number },
  ): Promise<unknown> {
    const number = this.#numbers.of(text);
    const occurrence = (this.#occurrences.get(number) ?? 0) + 1;
    this.#occurrences.set(number, occurrence);
    const name = `${number} ${occurrence}`;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const until = "wait" in what ? { until: now - this.#skew + Math.ceil(what.wait) } : what;
    this.#open.set(name, {
      request: { name, number, label, ...until },
      answer: (outcome) => (outcome.error ? reject(outcome.error) : resolve(outcome.value)),
    });
    return promise;
  }

  #enter(clock: number): void {
    running = this;
    now = clock + this.#skew;
  }
}

/** After this many waits, the event loop gets a turn, so that a timeout can end a test that never ends. */
const waitsPerTurn = 256;

let waits = 0;

/** Waits until all promises that need no request have settled: a tick runs after all of their callbacks. */
const settled = () =>
  new Promise<void>((resolve) =>
    waits++ % waitsPerTurn === 0 ? setImmediate(resolve) : process.nextTick(resolve),
  );

const current = () => {
  if (!running) throw new Error("The table was called outside any execution.");
  return running;
};

/**
 * Directs the calls of the table, the clock and the waits of the product to executions.
 *
 * @param mayBeDamaged whether trees may be damaged. Otherwise, code that logs a damaged tree fails.
 * @returns a function that restores the originals
 */
export function install(mayBeDamaged: boolean): () => void {
  const original = { send: table.send, now: Date.now, random: Math.random, setTimeout: timers.setTimeout };
  const { error } = console;
  const send = (command: object) => {
    const name = command.constructor.name.replace("Command", "");
    const text = toText(Reflect.get(command, "input"));
    return current().request(describe(name, text), `${name} ${text}`, { command });
  };
  const wait = (milliseconds = 0) =>
    milliseconds <= 0
      ? Promise.resolve()
      : current().request(`waits ${milliseconds} ms`, `wait ${milliseconds}`, { wait: milliseconds });
  table.send = send as typeof table.send;
  Date.now = () => now;
  Math.random = () => 0;
  console.error = (line: object) => {
    if (!mayBeDamaged) throw new Error(`A sound tree is called damaged: ${JSON.stringify(line)}`);
  };
  timers.setTimeout = wait as typeof timers.setTimeout;
  syncBuiltinESMExports();
  return () => {
    table.send = original.send;
    Date.now = original.now;
    Math.random = original.random;
    console.error = error;
    timers.setTimeout = original.setTimeout;
    syncBuiltinESMExports();
  };
}

/** A command in a readable form, for a trace: with the sort keys and the values in its text. */
const describe = (name: string, text: string) =>
  [name, ...Array.from(text.matchAll(/[{,](?:sk|:\w+):"([^"]*)"/g), ([, value]) => value)].join(" ");
