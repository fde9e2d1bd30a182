import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { batchGet, get, query, scan, transactGet } from "./reads.ts";
import { type Change, StoredItems } from "./stored-items.ts";
import { transactWrite, write } from "./writes.ts";

/** The response of a command without what it consumed, and the units that it consumed. */
interface Metered {
  readonly output: Readonly<Record<string, unknown>>;
  readonly reads?: number;
  readonly writes?: number;
}

const commands: Readonly<Record<string, (items: StoredItems, input: never) => Metered>> = {
  GetCommand: get,
  BatchGetCommand: batchGet,
  TransactGetCommand: transactGet,
  QueryCommand: query,
  ScanCommand: scan,
  PutCommand: (items, input) => write(items, "Put", input),
  UpdateCommand: (items, input) => write(items, "Update", input),
  DeleteCommand: (items, input) => write(items, "Delete", input),
  TransactWriteCommand: transactWrite,
};

/**
 * A table in memory with the indexes of the project's table. It takes the commands of the document client, with the
 * expressions that the project uses, and fails for others. It never throttles and its indexes are always up to date.
 */
export class MemoryTable {
  readonly #items = new StoredItems();

  /** @param onChange called synchronously with each change of an item, in order */
  constructor({ onChange }: { onChange?: (change: Change) => void } = {}) {
    this.#items.onChange = onChange;
  }

  /** Runs a command, like the document client. @throws the errors of the SDK */
  send = async (command: object): Promise<Record<string, unknown>> => this.execute(command).output;

  /** Runs a command at once. @returns the response and the units consumed @throws the errors of the SDK */
  execute(command: object): Required<Metered> {
    const { name } = command.constructor;
    const run = commands[name];
    if (!run) throw new Error(`The memory table does not support the command ${name}.`);
    const input = Reflect.get(command, "input");
    const { output, reads = 0, writes = 0 } = run(this.#items, input as never);
    if ((input.ReturnConsumedCapacity ?? "NONE") === "NONE") return { output, reads, writes };
    const consumed = { CapacityUnits: reads + writes };
    const ConsumedCapacity = /^(Batch|Transact)/.test(name) ? [consumed] : consumed;
    return { output: { ...output, ConsumedCapacity }, reads, writes };
  }

  /** Stores an item. */
  put(Item: Item): void {
    write(this.#items, "Put", { Item });
  }

  /** Deletes the item that has the key of this one. */
  delete({ pk, sk }: Item): void {
    write(this.#items, "Delete", { Key: { pk, sk } });
  }

  /** All items, partition by partition. */
  *items(): Iterable<Item> {
    for (const { item } of this.#items.in(undefined).all()) yield item;
  }

  /** A copy of the table for `restore`: cheap for a small table. */
  snapshot = () => this.#items.snapshot();

  restore = (snapshot: ReturnType<StoredItems["snapshot"]>) => this.#items.restore(snapshot);
}
