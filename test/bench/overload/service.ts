import { readPartition } from "../../../shared/dynamodb/keys.ts";
import { PartitionLimits, type PartitionRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { type Change, MemoryTable } from "../../support/memory-table.ts";
import { seeded } from "../../support/random.ts";
import { Concurrency } from "./concurrency.ts";
import { EventSource } from "./event-source.ts";
import { FunctionPool, type Served } from "./function-pool.ts";
import { type Attempt, LimitedMemoryTable } from "./limited-memory-table.ts";
import type { FunctionName, Product } from "./product.ts";
import type { Host } from "./sdk/host.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { virtualGlobals } from "./virtual-globals.ts";

export interface ServiceOptions {
  readonly product: Product;
  /** The limits of each partition key. */
  readonly rates: PartitionRates;
  readonly seed: number;
  /** Whether the maintainer runs from the start, by default true. */
  readonly maintained?: boolean;
  /** What the table has at the start; nothing by default. */
  readonly stored?: Stored;
  /** Environment variables of the functions, besides the usual ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How many environments of all functions together can run at once, by default any number. */
  readonly concurrency?: number;
}

/** The items of a table. */
export type Stored = ReturnType<MemoryTable["snapshot"]>;

/** The timeouts of the functions, in milliseconds, as the stack sets them. */
const timeouts: Readonly<Record<FunctionName, number>> = {
  "create-lead": 10_000,
  "list-leads": 10_000,
  "list-conversations": 10_000,
  "maintain-counts": 60_000,
};

/** When simulations start. */
export const simulationStart = Date.UTC(2026, 6, 1);

/** The deployed service in virtual time. */
export interface Service {
  readonly clock: VirtualClock;
  /** The table, at no cost and without limits. */
  readonly memory: MemoryTable;
  /** The table as the functions use it. */
  readonly table: LimitedMemoryTable;
  readonly source: EventSource;
  readonly pools: Readonly<Record<FunctionName, FunctionPool>>;
  /** The read units that each account's items have cost. */
  readonly readUnits: ReadonlyMap<string, number>;
}

/** Starts the functions, the table with its limits, and the stream between them. @param onChange called with each change of the table */
export function startService(
  { product, rates, seed, maintained = true, stored, environment, concurrency: most }: ServiceOptions,
  onChange: (change: Change) => void,
): Service {
  const clock = new VirtualClock(simulationStart);
  const memory = new MemoryTable({
    onChange(change) {
      onChange(change);
      source.receive(change);
    },
  });
  if (stored) memory.restore(stored);
  const table = new LimitedMemoryTable(memory, new PartitionLimits(rates, () => clock.now), clock);
  const globals = virtualGlobals(clock, seeded(seed), environment);
  const concurrency = most === undefined ? undefined : new Concurrency(most);
  const accountUnits = new Map<string, number>();
  const createHost = (served: () => Served): Host => ({
    attempt(command, abortSignal) {
      const request = served();
      const observe = ({ partition, readUnits }: Attempt) => {
        request.calls++;
        request.readUnits += readUnits;
        const { account = "" } = readPartition(partition) ?? {};
        accountUnits.set(account, (accountUnits.get(account) ?? 0) + readUnits);
      };
      return table.attempt(command, observe, abortSignal);
    },
  });
  const createPool = (name: FunctionName) =>
    new FunctionPool({
      ...{ clock, globals, createHost, concurrency },
      load: product[name],
      timeout: timeouts[name],
    });
  const pools = {
    "create-lead": createPool("create-lead"),
    "list-leads": createPool("list-leads"),
    "list-conversations": createPool("list-conversations"),
    "maintain-counts": createPool("maintain-counts"),
  };
  const maintain = async (event: object) => (await pools["maintain-counts"].invoke(event)).result;
  const source = new EventSource(clock, maintain, maintained);
  return { clock, memory, table, source, pools, readUnits: accountUnits };
}
