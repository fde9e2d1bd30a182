import { vi } from "vitest";
import { table } from "../../shared/dynamodb/table-client.ts";

/** A call of the table, or a wait, that the test lets happen when it likes. */
interface Gate {
  readonly actor: Actor;
  /** The name of the command that waits, or what else does. */
  readonly label: string;
  /** When a wait ends, in milliseconds since the epoch. */
  readonly at?: number;
  open(): Promise<void>;
}

/** Something that runs on its own, between whose calls others may come. */
export interface Actor {
  readonly name: string;
  /** How far its clock is ahead, in milliseconds. */
  readonly skew: number;
  crashed: boolean;
  /** Whether it has ended, however. */
  done: boolean;
  error?: unknown;
  readonly ended: Promise<void>;
}

/**
 * Runs actors call by call: none gets on until the test opens the gate at which it waits. The clock, too, moves only
 * when the test says so.
 */
export class Interleaving {
  now: number;
  /** Called before the clock moves to a time. */
  beforeAdvance: (to: number) => Promise<void> = async () => {};
  readonly #gates: Gate[] = [];
  readonly #actors: Actor[] = [];
  readonly #send = table.send.bind(table) as (command: unknown) => Promise<unknown>;
  #running: Actor | undefined;
  /** How many calls have been let happen and are not over. */
  #underWay = 0;

  constructor(start: number) {
    this.now = start;
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

  /** Sends a command at once, for what is no actor of its own. */
  async direct(command: unknown): Promise<unknown> {
    this.#underWay++;
    return this.#send(command).finally(() => this.#underWay--);
  }

  async advanceTo(time: number): Promise<void> {
    if (time <= this.now) return;
    await this.beforeAdvance(time);
    this.now = Math.max(this.now, time);
    vi.setSystemTime(this.now);
  }

  /** Starts an actor, up to its first call. */
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

  /** Throws the first error that an actor ended with. */
  check(): void {
    for (const { error } of this.#actors) if (error !== undefined) throw error;
  }

  /** Lets the call that has the index among all that wait happen; a wait moves the clock to its end. */
  async step(index: number): Promise<void> {
    const [gate] = this.#gates.splice(index % this.#gates.length, 1);
    if (!gate || gate.actor.crashed) return;
    if (gate.at !== undefined) await this.advanceTo(gate.at);
    this.#run(gate.actor);
    await gate.open();
    await this.#settle();
  }

  /** Lets an actor alone go on until it waits with one of the commands. @returns those that it made before */
  async runUntil(actor: Actor, ...labels: string[]): Promise<string[]> {
    const made: string[] = [];
    for (;;) {
      const index = this.#gates.findIndex((gate) => gate.actor === actor);
      const label = this.#gates[index]?.label;
      if (label === undefined) throw new Error(`${actor.name} never came to ${labels}, but to ${made}.`);
      if (labels.some((wanted) => label.startsWith(wanted))) return made;
      made.push(label);
      await this.step(index);
    }
  }

  /** Lets an actor alone go on to its end, and nothing happen between its calls. */
  async finish(actor: Actor): Promise<void> {
    while (!actor.done) {
      const index = this.#gates.findIndex((gate) => gate.actor === actor);
      if (index < 0) throw new Error(`${actor.name} waits for nothing.`);
      await this.step(index);
    }
  }

  /** Ends an actor between two of its calls. */
  crash(actor: Actor): void {
    actor.crashed = true;
    for (let i = this.#gates.length - 1; i >= 0; i--)
      if (this.#gates[i]?.actor === actor) this.#gates.splice(i, 1);
  }

  /** A wait of the actor that runs. */
  wait = (milliseconds: number): Promise<void> =>
    this.#gate({ label: "wait", at: Math.ceil(this.now + milliseconds) });

  /** A point at which the actor that runs stops until the test goes on with it. */
  pause(): Promise<void> {
    return this.#gate({ label: "pause" });
  }

  #gate(gate: Pick<Gate, "at" | "label">): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.push({ ...gate, actor: this.#actor(), open: async () => resolve() });
    return promise;
  }

  #call(command: object): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const open = () => this.#send(command).then(resolve, reject);
    this.#gates.push({ actor: this.#actor(), label: labelOf(command), open });
    return promise;
  }

  #actor(): Actor {
    if (!this.#running) throw new Error("A call outside any actor.");
    return this.#running;
  }

  /** Lets an actor go on, by its own clock. */
  #run(actor: Actor): void {
    this.#running = actor;
    vi.setSystemTime(this.now + actor.skew);
  }

  /** What runs between two calls of an actor is done within some turns of the event loop. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#underWay > 0 ? 0 : quiet + 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    vi.setSystemTime(this.now);
  }
}

/** The command's name, and whether it is for a root. */
function labelOf(command: object): string {
  const input: unknown = Reflect.get(command, "input");
  return `${command.constructor.name}${JSON.stringify(input).includes('"sk":"root"') ? " root" : ""}`;
}
