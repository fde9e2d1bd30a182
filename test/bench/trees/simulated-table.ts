import type {
  GetCommandInput,
  PutCommandInput,
  QueryCommandInput,
  TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { type Item, type Key, table } from "../../../shared/dynamodb/table-client.ts";
import { pageBytes, readUnits } from "../../support/memory-table/query.ts";
import { itemSize } from "../pages/item-size.ts";

/** The bytes of a row: those of a lead of the benchmark of pages. */
export const rowBytes = 323;

/** A partition of rows, which are numbered from the oldest on. */
export interface RowPartition {
  readonly size: number;
  firstAt(key: string): number;
  key(index: number): string;
  /** Whether a row is in a partition of the table or of an index. */
  isIn(index: number, partition: string): boolean;
}

/** What a page has read. */
export interface Reads {
  /** How often it waited for calls, which it makes at the same time if it can. */
  trips: number;
  calls: number;
  /** Read units of the root and the nodes. */
  treeUnits: number;
  rowUnits: number;
  /** The number of rows of the last query. */
  lastRows: number;
}

const noReads = (): Reads => ({ trips: 0, calls: 0, treeUnits: 0, rowUnits: 0, lastRows: 0 });

/** A table that stores the items of a tree and computes everything else. */
export class SimulatedTable {
  readonly items = new Map<string, Item>();
  reads = noReads();
  readonly #rows: RowPartition;
  readonly #computeItem: (key: Key) => Item | undefined;
  #waiting: (() => void)[] = [];

  /** @param computeItem returns an item that is not stored */
  constructor(rows: RowPartition, computeItem: (key: Key) => Item | undefined = () => undefined) {
    this.#rows = rows;
    this.#computeItem = computeItem;
  }

  /** Makes the product work on this table. @returns restores the client */
  use(): () => void {
    const { send } = table;
    table.send = this.#send as typeof send;
    return () => {
      table.send = send;
    };
  }

  /** Forgets what was read. */
  startReading(): void {
    this.reads = noReads();
  }

  put(item: Item): void {
    this.items.set(itemName(item), item);
  }

  readonly #send = async (command: object): Promise<object> => {
    const input: unknown = Reflect.get(command, "input");
    switch (command.constructor.name) {
      case "PutCommand":
        this.put((input as PutCommandInput).Item as Item);
        return {};
      case "TransactWriteCommand":
        for (const { Put } of (input as TransactWriteCommandInput).TransactItems ?? [])
          this.put(Put?.Item as Item);
        return {};
      case "GetCommand":
        await this.#trip();
        return this.#get(input as GetCommandInput);
      case "QueryCommand":
        await this.#trip();
        return this.#query(input as QueryCommandInput);
      default:
        throw new Error(`The simulated table does not support ${command.constructor.name}.`);
    }
  };

  /** All calls that wait at the same time end together. */
  async #trip(): Promise<void> {
    this.reads.calls++;
    if (this.#waiting.length === 0) {
      this.reads.trips++;
      setImmediate(() => {
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const end of waiting) end();
      });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #get({ Key, ConsistentRead }: GetCommandInput) {
    const key = Key as Key;
    const Item = this.items.get(itemName(key)) ?? this.#computeItem(key);
    this.reads.treeUnits += readUnits(Item ? itemSize(Item) : 0, ConsistentRead);
    return { Item };
  }

  #query({ Limit = Number.POSITIVE_INFINITY, ...input }: QueryCommandInput) {
    const { before, downTo, partition } = bounds(input);
    const end = before === undefined ? this.#rows.size : this.#rows.firstAt(before);
    const first = downTo === undefined ? 0 : this.#rows.firstAt(downTo);
    const Items: Item[] = [];
    let at = end - 1;
    for (; at >= first && Items.length < Limit && Items.length * rowBytes < pageBytes; at--)
      if (this.#rows.isIn(at, partition)) Items.push({ sk: this.#rows.key(at) });
    this.reads.rowUnits += readUnits(Items.length * rowBytes, input.ConsistentRead);
    this.reads.lastRows = Items.length;
    return { Items, LastEvaluatedKey: at < first ? undefined : Items.at(-1) };
  }
}

const itemName = ({ pk, sk }: Item) => `${String(pk)} ${String(sk)}`;

/** The bounds of a query of a list, newest first. A row at the upper bound itself is left out by its reader. */
function bounds({ ScanIndexForward, ExpressionAttributeValues = {}, ...input }: QueryCommandInput) {
  if (ScanIndexForward !== false || input.FilterExpression || input.ExclusiveStartKey)
    throw new Error("The simulated table does not support this query.");
  const { ":before": before, ":downTo": downTo, ":partition": partition } = ExpressionAttributeValues;
  return {
    before: before as string | undefined,
    downTo: downTo as string | undefined,
    partition: String(partition),
  };
}
