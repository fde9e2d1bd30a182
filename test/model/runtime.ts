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
 * Directs the calls of the table, the clock and the waits of the product to executions, until the result is disposed of.
 *
 * @param mayBeDamaged whether trees may be damaged. Otherwise, code that logs a damaged tree fails.
 */
export function install(mayBeDamaged: boolean): Disposable {
  const send = (command: object) => {
    const name = command.constructor.name.replace("Command", "");
    const text = toText(Reflect.get(command, "input"));
    return current().request(describe(name, text), `${name} ${text}`, { command });
  };
  const wait = (milliseconds = 0) =>
    milliseconds <= 0
      ? Promise.resolve()
      : current().request(`waits ${milliseconds} ms`, `wait ${milliseconds}`, { wait: milliseconds });
  const logError = (line: object) => {
    if (!mayBeDamaged) throw new Error(`A sound tree is called damaged: ${JSON.stringify(line)}`);
  };
  const replaced = [
    { of: table, name: "send", value: send },
    { of: Date, name: "now", value: () => now },
    { of: Math, name: "random", value: () => 0 },
    { of: console, name: "error", value: logError },
    { of: timers, name: "setTimeout", value: wait },
  ];
  const originals = replaced.map(({ of, name }) => ({ of, name, value: Reflect.get(of, name) }));
  const set = (functions: typeof originals) => {
    for (const { of, name, value } of functions) Reflect.set(of, name, value);
    syncBuiltinESMExports();
  };
  set(replaced);
  return { [Symbol.dispose]: () => set(originals) };
}

/** A command in a readable form, for a trace: with the sort keys and the values in its text. */
const describe = (name: string, text: string) =>
  [name, ...Array.from(text.matchAll(/[{,](?:sk|:\w+):"([^"]*)"/g), ([, value]) => value)].join(" ");
