import { vi } from "vitest";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { sum } from "../cases/statistics.ts";
import { MemoryTable } from "../memory-table/memory-table.ts";

/** A call of the table that came to an end, with an error or without. */
export interface WatchedCall {
  /** The name of the command. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The read units. */
  readonly reads: number;
  /** The number of items that a query or a batch returned. */
  readonly rows: number;
}

interface RowsOutput {
  readonly Items?: readonly object[];
  readonly Responses?: Readonly<Record<string, readonly object[]>>;
}

/** A table in memory that takes the calls of the client and notes them, until `vi.restoreAllMocks`. */
export class WatchedTable {
  readonly memory = new MemoryTable();
  /** The calls since the last `watch`. */
  calls: WatchedCall[] = [];
  /** Runs before each call of the client; its error is that of the call. */
  before: (command: object, call: number) => unknown = () => {};
  /** The table that a call of the client shows; its error is that of the call. */
  shown: (command: object) => MemoryTable = () => this.memory;

  constructor() {
    vi.spyOn(table, "send").mockImplementation(((command: object) => this.#send(command)) as never);
  }

  /** Runs something. @returns its result, and the calls that it made */
  async watch<T>(run: () => Promise<T>): Promise<{ result: T; calls: WatchedCall[]; units: number }> {
    this.calls = [];
    const result = await run();
    const calls = this.calls;
    const units = sum(calls.map(({ reads }) => reads));
    return { result, calls, units };
  }

  async #send(command: object): Promise<unknown> {
    const input = Reflect.get(command, "input") as Record<string, unknown>;
    const call = { name: command.constructor.name, input, reads: 0, rows: 0 };
    this.calls.push(call);
    await this.before(command, this.calls.length);
    const { output, reads } = this.shown(command).execute(command);
    call.reads = reads;
    const { Items = [], Responses = {} } = output as RowsOutput;
    call.rows = [Items, ...Object.values(Responses)].flat().length;
    return output;
  }
}

/** The error of a call that the table throttled, after all attempts of the SDK. */
export const throttled = () => Object.assign(new Error("throttled"), { name: "ThrottlingException" });
