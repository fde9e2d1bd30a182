import { table } from "../../../shared/dynamodb/table-client.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";

/** What calls of the table cost: `trips` are those that had to wait for another one. */
export interface Cost {
  readonly read: number;
  readonly write: number;
  readonly calls: number;
  readonly trips: number;
}

const none: Cost = { read: 0, write: 0, calls: 0, trips: 0 };

/** The cost of the innermost `metered`. */
let current = none;

/** Calls that were made without waiting for each other: they run together, in one round trip. */
let together: (() => void)[] = [];

/** Makes the product work on a new table in memory, which meters its calls. */
export function useMeteredTable(options?: ConstructorParameters<typeof MemoryTable>[0]): MemoryTable {
  const memory = new MemoryTable(options);
  const send = async (command: object) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (together.push(resolve) === 1) setImmediate(startTrip);
    await promise;
    const { output, reads, writes } = memory.execute(command);
    current = {
      ...current,
      read: current.read + reads,
      write: current.write + writes,
      calls: current.calls + 1,
    };
    return output;
  };
  Object.assign(table, { send });
  return memory;
}

function startTrip(): void {
  const calls = together;
  together = [];
  current = { ...current, trips: current.trips + 1 };
  for (const call of calls) call();
}

/** Runs something and meters its calls, except those of a `metered` within it. Nothing else may call the table meanwhile. */
export async function metered<T>(
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly cost: Cost }> {
  const outer = current;
  current = none;
  try {
    const result = await run();
    return { result, cost: current };
  } finally {
    current = outer;
  }
}
