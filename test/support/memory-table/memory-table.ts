import type { GetCommandInput, TransactWriteCommandInput, UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { batchGet } from "./batch-get.ts";
import { project } from "./expressions.ts";
import { query, readUnits } from "./query.ts";
import { scan } from "./scan.ts";
import { type Change, StoredItems } from "./stored-items.ts";
import { transactGet } from "./transact-get.ts";
import { updatedNames } from "./updates.ts";
import { transactWrite, type WriteInput, write } from "./writes.ts";

/** The response of a command without what it consumed, and the units that it consumed. */
interface Metered {
  readonly output: Record<string, unknown>;
  readonly reads?: number;
  readonly writes?: number;
}

const reads: Readonly<Record<string, (items: StoredItems, input: never) => Metered>> = {
  BatchGetCommand: batchGet,
  TransactGetCommand: transactGet,
  QueryCommand: query,
  ScanCommand: scan,
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
    const input = Reflect.get(command, "input") as { ReturnConsumedCapacity?: string };
    const { output, reads = 0, writes = 0 } = this.#run(command.constructor.name, input);
    if ((input.ReturnConsumedCapacity ?? "NONE") === "NONE") return { output, reads, writes };
    const ConsumedCapacity = { CapacityUnits: reads + writes };
    const several = /^(Batch|Transact)/.test(command.constructor.name);
    return {
      output: { ...output, ConsumedCapacity: several ? [ConsumedCapacity] : ConsumedCapacity },
      reads,
      writes,
    };
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

  #run(name: string, input: object): Metered {
    const read = reads[name];
    if (read) return read(this.#items, input as never);
    switch (name) {
      case "GetCommand":
        return this.#get(input as GetCommandInput);
      case "PutCommand":
        return { output: {}, writes: write(this.#items, "Put", input as WriteInput).writes };
      case "DeleteCommand":
        return { output: {}, writes: write(this.#items, "Delete", input as WriteInput).writes };
      case "UpdateCommand":
        return this.#update(input as UpdateCommandInput);
      case "TransactWriteCommand":
        return { output: {}, writes: transactWrite(this.#items, input as TransactWriteCommandInput) };
      default:
        throw new Error(`The memory table does not support the command ${name}.`);
    }
  }

  #get(input: GetCommandInput): Metered {
    const key = input.Key as unknown as Key;
    const row = this.#items.find(key);
    return {
      output: row ? { Item: project(input.ProjectionExpression, input)(row.item) } : {},
      reads: readUnits(row?.size ?? 0, input.ConsistentRead),
    };
  }

  #update(input: UpdateCommandInput): Metered {
    const { after = {}, writes } = write(this.#items, "Update", input as WriteInput);
    const names = updatedNames(input.UpdateExpression, input);
    if (input.ReturnValues === "ALL_NEW") return { output: { Attributes: after }, writes };
    if (input.ReturnValues === "UPDATED_NEW") {
      const changed = Object.fromEntries(names.map((name) => [name, after[name]]));
      return { output: { Attributes: changed }, writes };
    }
    if ((input.ReturnValues ?? "NONE") === "NONE") return { output: {}, writes };
    throw new Error(`The memory table does not support the return values ${input.ReturnValues}.`);
  }
}
