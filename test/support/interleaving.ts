import { ThrottlingException } from "@aws-sdk/client-dynamodb";
import { vi } from "vitest";
import { table } from "../../shared/dynamodb/table-client.ts";
import { seeded } from "./random.ts";

/** A table call or a wait that is held back until the test lets it run. */
interface Gate {
  readonly actor: Actor;
  /** When a wait ends, in milliseconds since the epoch. */
  readonly at?: number;
  open(): Promise<void>;
  /** Makes a call fail instead; absent for what is no call. */
  readonly reject?: (error: Error) => void;
}

/** Code that runs concurrently with others: any of their calls may come between two of its own. */
export interface Actor {
  readonly name: string;
  /** How far its clock is ahead, in milliseconds. */
  readonly skew: number;
  crashed: boolean;
  /** Whether it has ended, with or without an error. */
  done: boolean;
  error?: unknown;
  readonly ended: Promise<void>;
}

/** Runs actors call by call: each stops at a gate before a call until the test opens it. The test also moves the clock. */
export class Interleaving {
  now: number;
  /** Called before the clock moves to a time. */
  beforeAdvance: (to: number) => Promise<void> = async () => {};
  readonly #gates: Gate[] = [];
  readonly #actors: Actor[] = [];
  readonly #send: (command: object) => Promise<unknown>;
  #running: Actor | undefined;
  /** Whether calls are not held back. */
  #free = false;

  /** @param send runs a command of the client at once, as a table in memory does */
  constructor(start: number, send: (command: object) => Promise<unknown>) {
    this.now = start;
    this.#send = send;
    vi.spyOn(Math, "random").mockImplementation(seeded(1));
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    vi.spyOn(table, "send").mockImplementation(((command: object) =>
      this.#call(command)) as unknown as typeof table.send);
  }

  restore(): void {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }

  get waiting(): number {
    return this.#gates.length;
  }

  /** Sends a command at once, outside any actor. */
  direct(command: object): Promise<unknown> {
    return this.#send(command);
  }

  /** Runs code as the only actor, whose calls are not held back. */
  async alone<T>(run: () => Promise<T>): Promise<T> {
    this.#free = true;
    try {
      return await run();
    } finally {
      this.#free = false;
    }
  }

  async advanceTo(time: number): Promise<void> {
    if (time <= this.now) return;
    await this.beforeAdvance(time);
    this.now = Math.max(this.now, time);
    vi.setSystemTime(this.now);
  }

  /** Starts an actor and runs it up to its first call. */
  async start(name: string, run: (actor: Actor) => Promise<unknown>, skew = 0): Promise<Actor> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const actor: Actor = { name, skew, crashed: false, done: false, ended };
    this.#actors.push(actor);
    this.#run(actor);
    run(actor)
      .catch((error: unknown) => {
        actor.error = error;
      })
      .finally(() => {
        actor.done = true;
        resolve();
      });
    await this.#settle();
    return actor;
  }

  describe(): string {
    return this.#gates
      .map(({ actor, at }) => `${actor.name}${at === undefined ? "" : ` until ${at - this.now}`}`)
      .join(", ");
  }

  /** @throws the first error that an actor ended with */
  check(): void {
    for (const { error } of this.#actors) if (error !== undefined) throw error;
  }

  /** Opens the gate with this index among those that wait; a wait moves the clock to its end. */
  async step(index: number): Promise<void> {
    const [gate] = this.#gates.splice(index % this.#gates.length, 1);
    if (!gate || gate.actor.crashed) return;
    if (gate.at !== undefined) await this.advanceTo(gate.at);
    this.#run(gate.actor);
    await gate.open();
    await this.#settle();
  }

  /** Runs the actor of the gate with this index for some calls, with no other between them. */
  async run(index: number, calls: number): Promise<void> {
    const { actor } = this.#gates[index % Math.max(1, this.#gates.length)] ?? {};
    for (let made = 0; made < calls; made++) {
      const next = this.#gates.findIndex((gate) => gate.actor === actor);
      if (next < 0) return;
      await this.step(next);
    }
  }

  /** The table throttles one of the calls that actors with these names are about to make, or another error ends it. */
  async throttle(index: number, names: readonly string[], error: Error = throttled()): Promise<void> {
    const calls = this.#gates.filter(({ actor, reject }) => reject && names.includes(actor.name));
    const gate = calls[index % Math.max(1, calls.length)];
    if (!gate) return;
    this.#gates.splice(this.#gates.indexOf(gate), 1);
    this.#run(gate.actor);
    gate.reject?.(error);
    await this.#settle();
  }

  /** Runs one actor to its end, with no other between its calls. */
  async finish(actor: Actor): Promise<void> {
    while (!actor.done) {
      const index = this.#gates.findIndex((gate) => gate.actor === actor);
      if (index < 0) throw new Error(`${actor.name} has not ended, but waits for no gate.`);
      await this.step(index);
    }
  }

  /** Ends an actor between two of its calls. */
  crash(actor: Actor): void {
    actor.crashed = true;
    for (let i = this.#gates.length - 1; i >= 0; i--)
      if (this.#gates[i]?.actor === actor) this.#gates.splice(i, 1);
  }

  /** Makes the running actor wait. */
  wait = (milliseconds: number): Promise<void> => this.#gate({ at: Math.ceil(this.now + milliseconds) });

  /** Stops the running actor until the test opens its gate. */
  pause(): Promise<void> {
    return this.#gate({});
  }

  #gate(gate: Pick<Gate, "at">): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.push({ ...gate, actor: this.#actor(), open: async () => resolve() });
    return promise;
  }

  #call(command: object): Promise<unknown> {
    if (this.#free) return this.#send(command);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const open = () => this.#send(command).then(resolve, reject);
    this.#gates.push({ actor: this.#actor(), open, reject });
    return promise;
  }

  #actor(): Actor {
    if (!this.#running) throw new Error("The table was called outside any actor.");
    return this.#running;
  }

  /** Makes an actor the running one and sets its clock. */
  #run(actor: Actor): void {
    this.#running = actor;
    vi.setSystemTime(this.now + actor.skew);
  }

  /** Waits until the running actor has reached its next gate. */
  async #settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    vi.setSystemTime(this.now);
  }
}

const throttled = () =>
  new ThrottlingException({ message: "Throttled.", $metadata: { httpStatusCode: 400 } });
