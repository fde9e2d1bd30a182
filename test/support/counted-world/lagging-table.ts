import {
  type BatchGetCommandInput,
  DeleteCommand,
  PutCommand,
  type QueryCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { type Change, MemoryTable } from "../memory-table.ts";

/** How late one call reads an index. */
export interface Lag {
  /** In milliseconds, at most `longestLag`. */
  readonly by: number;
  /** Whether only some of its rows are late. */
  readonly some: boolean;
}

/** The latest that a write appears in an index, in milliseconds. */
export const longestLag = limits.indexLateness;

/** A table in memory whose indexes are read as they were a while ago, and so are items that are not read consistently. */
export class LaggingTable {
  /** The lags of the reads to come, one after another and again from the first; none when all are up to date. */
  lags: readonly Lag[] = [];
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
    const lag = isConsistent(command) ? undefined : this.lags[this.#calls++ % this.lags.length];
    return (lag ? this.#before(lag) : this.memory).execute(command).output;
  };

  /** The table before the changes that are not in the index yet. */
  #before({ by, some }: Lag): MemoryTable {
    const late = this.#log.filter(
      ({ at, change }) =>
        at > this.#now() - by && change.key.pk.split("#").length === 2 && !(some && isEven(change.key.sk)),
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

const isEven = (key: string) => key.charCodeAt(key.length - 1) % 2 === 0;
