import { crc32 } from "node:zlib";
import {
  type BatchGetCommandInput,
  DeleteCommand,
  PutCommand,
  type QueryCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { type Change, MemoryTable } from "../memory-table.ts";

/** A table in memory whose indexes have each row later than the table, and so have reads that are not consistent. */
export class LaggingTable {
  /** How late rows are, in milliseconds, one after another and again from the first; none when all are up to date. */
  lags: readonly number[] = [];
  readonly memory: MemoryTable;
  readonly #now: () => number;
  readonly #log: { readonly at: number; readonly change: Change }[] = [];
  #calls = 0;

  /** @param now the time, in milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
    this.memory = new MemoryTable({ onChange: (change) => this.#log.push({ at: now(), change }) });
  }

  /** Runs a command, like the document client. */
  send = async (command: object): Promise<Record<string, unknown>> => {
    const isExact = isConsistent(command) || this.lags.length === 0;
    return (isExact ? this.memory : this.#before(this.#calls++)).execute(command).output;
  };

  /** The table before the changes that are not in the index yet. @param call each call finds other rows late */
  #before(call: number): MemoryTable {
    const lagOf = (sk: string) => this.lags[(crc32(sk) + (call % 3)) % this.lags.length] ?? 0;
    const late = this.#log.filter(
      ({ at, change: { key } }) => key.pk.split("#").length === 2 && at > this.#now() - lagOf(key.sk),
    );
    if (late.length === 0) return this.memory;
    const table = new MemoryTable();
    table.restore(this.memory.snapshot());
    for (const { change } of late.reverse()) {
      const { before: Item, key: Key } = change;
      table.execute(
        Item
          ? new PutCommand({ TableName: tableName, Item })
          : new DeleteCommand({ TableName: tableName, Key }),
      );
    }
    return table;
  }
}

/** Whether a command writes, or reads the table as it is. */
function isConsistent(command: object): boolean {
  const { IndexName, RequestItems } = Reflect.get(command, "input") as Partial<
    QueryCommandInput & BatchGetCommandInput
  >;
  return IndexName === undefined && RequestItems?.[tableName]?.ConsistentRead !== false;
}
