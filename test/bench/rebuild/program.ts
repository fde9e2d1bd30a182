import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { seeded } from "../../support/random.ts";
import type { LoadModules } from "../overload/bundle.ts";
import type { Host } from "../overload/sdk/host.ts";
import type { Service } from "../overload/service.ts";
import { virtualGlobals } from "../overload/virtual-globals.ts";
import type { Operations } from "./operations.ts";

interface ProgramOptions {
  readonly load: LoadModules<Operations>;
  readonly service: Pick<Service, "clock" | "table">;
  readonly account: string;
  /** The read units a second that its commands use at most. */
  readonly units: number;
  readonly seed: number;
}

/** A run of the operators' program in virtual time, with commands on the leads of an account. */
export class Program {
  /** How many rows its commands have read, or found counted. */
  rows = 0;
  readonly #options: ProgramOptions;
  readonly #operations: Operations;
  #killed = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
    const { load, service, seed } = options;
    const { clock, table } = service;
    const programClock = {
      get now() {
        return clock.now;
      },
      after: (milliseconds: number, run: () => void) =>
        clock.after(milliseconds, () => {
          if (!this.#killed) run();
        }),
    };
    const host: Host = {
      attempt: (command, abortSignal) => this.#unlessKilled(table.attempt(command, () => {}, abortSignal)),
    };
    this.#operations = load(host, virtualGlobals(programClock, seeded(seed)));
  }

  /** Ends the program: what its calls have done stays done, but none returns, and no wait ends. */
  kill(): void {
    this.#killed = true;
  }

  async rebuild(): Promise<void> {
    await this.#operations.rebuild(this.#owner, await this.#reading());
    await this.#operations.repairSublists(this.#owner, await this.#reading());
  }

  async verify(): ReturnType<Operations["verify"]> {
    return this.#operations.verify(this.#owner, await this.#reading());
  }

  /** The number of rows that a rebuild reads at most. */
  async planRebuild(): Promise<number> {
    const { pace } = await this.#reading();
    return this.#operations.planRebuild(this.#owner, pace);
  }

  /** The state of the counts. */
  async status() {
    const { pace } = await this.#reading();
    return this.#operations.readStatus(this.#owner, pace);
  }

  /** Changes the status of a lead, like `leads set-status`. */
  async setLeadStatus(id: string, status: "new" | "qualified" | "booked"): Promise<void> {
    await this.#operations.selectTableByOptions({ table: "overload" });
    const deadline = this.#options.service.clock.now + 10_000;
    await this.#operations.setLeadStatus(this.#options.account, id, status, deadline);
  }

  get #owner() {
    return { account: this.#options.account, list: countedLists.lead };
  }

  /** Selects the table as the commands on counts do. @returns how they read */
  async #reading() {
    const onRows = (rows: number) => {
      this.rows += rows;
    };
    const options = { table: "overload", units: this.#options.units };
    const pace = await this.#operations.selectPacedTable(options, this.#wait);
    return { wait: this.#wait, onRows, pace };
  }

  #wait = (milliseconds: number) => this.#unlessKilled(this.#options.service.clock.wait(milliseconds));

  #unlessKilled<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#killed || resolve(value),
        (error) => this.#killed || reject(error),
      );
    });
  }
}
