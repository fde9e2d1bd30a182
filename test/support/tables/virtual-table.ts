import { TransactGetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { replaceWaits } from "../cases/virtual-time.ts";
import { MemoryTable } from "../memory-table/memory-table.ts";
import { canceled } from "./cancellation.ts";
import { keyedItems } from "./keyed-items.ts";

/**
 * A table in memory whose calls take virtual time. A write transaction cancels the transactions that begin before its end
 * and share an item with it. The table takes the calls of the client and fakes the timers, until both are restored.
 */
export class VirtualTable {
  readonly memory = new MemoryTable();
  /** The items of the transactions that are in progress. */
  readonly #held = new Set<string>();

  /**
   * @param start the time at which it starts, in milliseconds since the epoch
   * @param duration how long a call that starts now takes, in milliseconds
   * @param clients the clients whose calls are taken, for example of several environments
   */
  constructor(start: number, duration: (command: object) => number, clients = [table]) {
    vi.useFakeTimers({ now: start });
    replaceWaits((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)));
    const send = (command: object) => this.#send(command, duration(command));
    for (const client of clients) vi.spyOn(client, "send").mockImplementation(send as never);
  }

  async #send(command: object, duration: number): Promise<unknown> {
    const isWrite = command instanceof TransactWriteCommand;
    const items = isWrite || command instanceof TransactGetCommand ? keyedItems(command) : [];
    const reasons = items.map((item) => (this.#held.has(item) ? "TransactionConflict" : "None"));
    const conflicts = reasons.includes("TransactionConflict");
    if (!conflicts && isWrite) for (const item of items) this.#held.add(item);
    // The command runs at once: only the response is late.
    const response = (async () => {
      if (conflicts) throw canceled(...reasons);
      return this.memory.execute(command).output;
    })();
    await Promise.allSettled([response, new Promise((resolve) => setTimeout(resolve, duration))]);
    if (!conflicts && isWrite) for (const item of items) this.#held.delete(item);
    return response;
  }
}
