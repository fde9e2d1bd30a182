import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, vi } from "vitest";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { sum } from "../cases/statistics.ts";
import { MemoryTable } from "../memory-table/memory-table.ts";
import { streamRecord } from "./stream-record.ts";

/** A call of the table, which succeeded or failed. */
export interface WatchedCall {
  /** The name of the command. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The read units and the write units. */
  readonly reads: number;
  readonly writes: number;
  /** The number of items that a query returned. */
  readonly rows: number;
}

/** A table in memory that takes the calls of the client and records them, until `vi.restoreAllMocks`. */
export class WatchedTable {
  readonly memory: MemoryTable;
  /** The calls since the last `watch`. */
  calls: WatchedCall[] = [];
  /** Runs before each call of the client. If it fails, the call fails with its error. */
  before: (command: object, call: number) => unknown = () => {};
  /** Returns the table for a call of the client. If it fails, the call fails with its error. */
  shown: (command: object) => MemoryTable = () => this.memory;

  /** @param stream receives the record of each change */
  constructor(stream?: DynamoDBRecord[]) {
    this.memory = new MemoryTable({
      onChange: ({ before, after }) => void stream?.push(streamRecord(before, after)),
    });
    this.start();
  }

  /** Takes the calls of the client. */
  start(): void {
    vi.spyOn(table, "send").mockImplementation(((command: object) => this.#send(command)) as never);
  }

  /** Runs something. @returns its result, and the calls that it made */
  async watch<T>(run: () => Promise<T>): Promise<{ result: T; calls: WatchedCall[]; units: number }> {
    this.calls = [];
    const result = await run();
    return { result, calls: this.calls, units: sum(this.calls.map(({ reads }) => reads)) };
  }

  async #send(command: object): Promise<unknown> {
    const input = Reflect.get(command, "input") as Record<string, unknown>;
    const call = { name: command.constructor.name, input, reads: 0, writes: 0, rows: 0 };
    this.calls.push(call);
    await this.before(command, this.calls.length);
    const { output, reads, writes } = this.shown(command).execute(command);
    Object.assign(call, { reads, writes, rows: output.Count ?? 0 });
    return output;
  }
}

/** A table that is empty before each test of the file. */
export function useTable(): WatchedTable {
  const table = new WatchedTable();
  const { before, shown, memory } = table;
  const empty = memory.snapshot();
  beforeEach(() => {
    memory.restore(empty);
    Object.assign(table, { before, shown, calls: [] });
    table.start();
  });
  return table;
}

/** The error of a call that was still throttled after all attempts of the SDK. */
export const throttled = () => Object.assign(new Error("throttled"), { name: "ThrottlingException" });
