import { table } from "../../../shared/dynamodb/table-client.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";

let now = Date.UTC(2026, 0, 1);

/** Replaces `Date.now` by a clock that only `advanceClock` moves: every run gives the same figures. */
export function installClock(): void {
  Date.now = () => now;
}

/** Moves the clock ahead, in milliseconds; call it between two table calls, never during one. */
export function advanceClock(milliseconds: number): void {
  now += Math.ceil(milliseconds);
}

/** Read and write units and calls of the table; `trips` are the calls that had to wait for another one. */
export interface Cost {
  readonly R: number;
  readonly W: number;
  readonly calls: number;
  readonly trips: number;
}

const none: Cost = { R: 0, W: 0, calls: 0, trips: 0 };

/** The cost of the innermost `metered`. */
let current = none;

/** Calls that were made without waiting for each other: they run together, in one round trip. */
let together: (() => void)[] = [];

/** Directs the product to a new table in memory that meters its calls. */
export function useMeteredTable(options?: ConstructorParameters<typeof MemoryTable>[0]): MemoryTable {
  const memory = new MemoryTable(options);
  const send = async (command: object) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (together.push(resolve) === 1) setImmediate(startTrip);
    await promise;
    const { output, reads, writes } = memory.execute(command);
    const { R, W, calls, trips } = current;
    current = { R: R + reads, W: W + writes, calls: calls + 1, trips };
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
export async function metered<T>(run: () => Promise<T>): Promise<{ result: T; cost: Cost }> {
  const outer = current;
  current = none;
  try {
    const result = await run();
    return { result, cost: current };
  } finally {
    current = outer;
  }
}
