import { GetCommand, TransactGetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { canceled } from "./cancellation.ts";
import { MemoryTable } from "./memory-table.ts";
import type { WatchedTable } from "./watched-table.ts";

/**
 * Runs a commit that stays in progress until a transaction is in conflict with it. Until then, single reads may miss it.
 *
 * @param misses whether a read of the item with a sort key shows it as it was before
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
 */
export async function tornCommit(
  table: WatchedTable,
  commit: () => Promise<unknown>,
  misses: (sk: string) => boolean,
): Promise<void> {
  const before = new MemoryTable();
  before.restore(table.memory.snapshot());
  await commit();
  table.shown = (command) => {
    if (command instanceof TransactGetCommand || command instanceof TransactWriteCommand) {
      table.shown = () => table.memory;
      throw canceled("TransactionConflict", "None");
    }
    const isMissed = command instanceof GetCommand && misses(String(command.input.Key?.sk));
    return isMissed ? before : table.memory;
  };
}
