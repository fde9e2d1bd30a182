import {
  ConditionalCheckFailedException,
  ThrottlingException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { admit } from "../../support/dynamodb-limits/admission.ts";
import type { PartitionLimits } from "../../support/dynamodb-limits/partition-limits.ts";
import type { CallInput, ItemUse } from "../../support/dynamodb-limits/table-uses.ts";
import { throttlingReason } from "../../support/dynamodb-limits/throttling-reason.ts";
import type { MemoryTable, Usage } from "../../support/memory-table.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** How long a call takes, in milliseconds: an assumption, which AWS does not document. */
export interface Latency {
  readonly base: number;
  readonly perReadUnit: number;
}

export const usualLatency: Latency = { base: 4, perReadUnit: 0.2 };

/** One attempt of a call, as it was charged. */
export interface Attempt {
  /** The first partition that it used. */
  readonly partition: string;
  readonly readUnits: number;
}

const operations: Readonly<Record<string, string>> = {
  BatchGetCommand: "BatchGetItem",
  BatchWriteCommand: "BatchWriteItem",
  GetCommand: "GetItem",
  QueryCommand: "Query",
  TransactWriteCommand: "TransactWriteItems",
};

/** A table in memory whose calls take virtual time and whose partition keys have limits. */
export class LimitedMemoryTable {
  /** How many attempts were throttled, those of batches in part included. */
  throttled = 0;
  readonly #memory: MemoryTable;
  readonly #limits: PartitionLimits;
  readonly #clock: VirtualClock;
  readonly #latency: Latency;

  constructor(memory: MemoryTable, limits: PartitionLimits, clock: VirtualClock, latency = usualLatency) {
    this.#memory = memory;
    this.#limits = limits;
    this.#clock = clock;
    this.#latency = latency;
  }

  /**
   * Makes an attempt of a call. It takes effect at once, and is answered after its latency.
   *
   * @param observe called with what the attempt consumed
   */
  async attempt(
    command: object,
    observe: (attempt: Attempt) => void,
    abortSignal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const call = Reflect.get(command, "input") as CallInput;
    const operation = operations[command.constructor.name] ?? "write";
    const { over, partial, input, uses, complete } = admit(this.#limits, operation, call);
    const partition = uses[0]?.partition ?? "";
    if (over || partial) this.throttled++;
    if (over) {
      observe({ partition, readUnits: 0 });
      await this.#wait(0, abortSignal);
      throw throttlingError(over, input.TransactItems?.length);
    }
    try {
      const { output, reads, writes } = this.#memory.execute(
        partial ? Reflect.construct(command.constructor, [input]) : command,
      );
      this.#charge("read", reads);
      this.#charge("write", writes);
      const readUnits = reads.reduce((sum, { units }) => sum + units, 0);
      observe({ partition, readUnits });
      await this.#wait(readUnits, abortSignal);
      return complete(output);
    } catch (error) {
      if (!isRefused(error)) throw error;
      observe({ partition, readUnits: 0 });
      // A write whose condition does not hold consumes units as well.
      for (const use of uses) this.#limits.charge(use, 1);
      await this.#wait(0, abortSignal);
      throw error;
    }
  }

  #charge(kind: "read" | "write", usages: readonly Usage[]): void {
    for (const { index, partition, units } of usages) this.#limits.charge({ kind, index, partition }, units);
  }

  async #wait(readUnits: number, abortSignal: AbortSignal | undefined): Promise<void> {
    abortSignal?.throwIfAborted();
    await this.#clock.wait(this.#latency.base + readUnits * this.#latency.perReadUnit);
    abortSignal?.throwIfAborted();
  }
}

const isRefused = (error: unknown) =>
  error instanceof ConditionalCheckFailedException || error instanceof TransactionCanceledException;

/** @param items how many items the transaction has; undefined for other calls */
function throttlingError(use: ItemUse, items: number | undefined): Error {
  const $metadata = { httpStatusCode: 400 };
  if (items === undefined) {
    const throttlingReasons = [throttlingReason(use, "overload")];
    return new ThrottlingException({ message: "Throttled.", $metadata, throttlingReasons });
  }
  const CancellationReasons = Array.from({ length: items }, (_, item) => ({
    Code: item === use.item ? "ThrottlingError" : "None",
  }));
  return new TransactionCanceledException({ message: "Throttled.", $metadata, CancellationReasons });
}
