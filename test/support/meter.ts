import { AsyncLocalStorage } from "node:async_hooks";
import { table } from "../../shared/dynamodb/table-client.ts";
import { sum } from "./statistics.ts";

/** The units that a call of an engine's table consumed. */
interface Call {
  readonly read: number;
  readonly write: number;
}

interface Consumed {
  readonly CapacityUnits?: number;
}

interface Output {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

const recordings = new AsyncLocalStorage<Call[]>();

/** Makes the client request the consumed capacity of each call and record it for the enclosing `metered`. */
export function installMeter(): void {
  table.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const calls = recordings.getStore();
        Object.assign(args.input, { ReturnConsumedCapacity: "TOTAL" });
        const result = await next(args);
        const units = consumedUnits(result.output as Output);
        const isRead = /^(?:BatchGet|Get|Query)/.test(commandName);
        calls?.push({ read: isRead ? units : 0, write: isRead ? 0 : units });
        return result;
      },
    { step: "initialize", name: "meter", priority: "high" },
  );
}

const consumedUnits = ({ ConsumedCapacity = [] }: Output) =>
  sum([ConsumedCapacity].flat().map(({ CapacityUnits = 0 }) => CapacityUnits));

/** Runs a function and returns its table calls. */
export async function metered<T>(
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly calls: readonly Call[] }> {
  const calls: Call[] = [];
  const result = await recordings.run(calls, run);
  return { result, calls };
}

export const readUnits = (calls: readonly Call[]) => sum(calls.map(({ read }) => read));
export const writeUnits = (calls: readonly Call[]) => sum(calls.map(({ write }) => write));
