import { AsyncLocalStorage } from "node:async_hooks";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { sum } from "./statistics.ts";

/** What a call of the table was for, told from its input. */
export type Part = "root" | "newest rows" | "nodes" | "rows" | "counting" | "recounting" | "writing";

/** A call of the table: when it began and ended, in milliseconds, and what it cost. */
export interface Call {
  readonly part: Part;
  readonly start: number;
  readonly end: number;
  readonly read: number;
  readonly write: number;
  /** The items of a transaction. */
  readonly items: number;
}

/** What something asked of the table. */
export interface Metered<T> {
  readonly response: T;
  readonly calls: readonly Call[];
  readonly milliseconds: number;
}

interface Input {
  ReturnConsumedCapacity?: string;
  readonly Key?: { readonly sk?: unknown };
  readonly Select?: string;
  readonly KeyConditionExpression?: string;
  readonly ProjectionExpression?: string;
  readonly TransactItems?: readonly unknown[];
}

interface Consumed {
  readonly CapacityUnits?: number;
}

interface Output {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

/** What the SDK's own handler of requests has, though its type leaves it out. */
interface AdjustableHandler {
  updateHttpClientConfig(name: "requestTimeout", milliseconds: number): void;
}

/** How long a call may take, in milliseconds. */
const patience = 30_000;

const recordings = new AsyncLocalStorage<Call[]>();

/** Makes the client ask for the cost of each call, and keep it for the `metered` function that the call is made in. */
export function installMeter(): void {
  // A machine that is busy with others must not end the run.
  const handler = table.config.requestHandler as unknown as AdjustableHandler;
  handler.updateHttpClientConfig("requestTimeout", patience);
  table.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const calls = recordings.getStore();
        const input = args.input as Input;
        input.ReturnConsumedCapacity = "TOTAL";
        const start = performance.now();
        const result = await next(args);
        const end = performance.now();
        const units = unitsOf(result.output as Output);
        const isRead = /^(?:Get|Query)/.test(commandName);
        calls?.push({
          part: isRead ? partOf(input) : "writing",
          ...{ start, end, read: isRead ? units : 0, write: isRead ? 0 : units },
          items: input.TransactItems?.length ?? 0,
        });
        return result;
      },
    { step: "initialize", name: "meter", priority: "high" },
  );
}

function unitsOf({ ConsumedCapacity = [] }: Output): number {
  return sum([ConsumedCapacity].flat().map(({ CapacityUnits = 0 }) => CapacityUnits));
}

function partOf({ Key, Select, KeyConditionExpression = "", ProjectionExpression }: Input): Part {
  if (Key) return JSON.stringify(Key.sk).includes("node#") ? "nodes" : "root";
  if (ProjectionExpression) return "recounting";
  if (Select === "COUNT") return "counting";
  return KeyConditionExpression.includes(" AND ") ? "rows" : "newest rows";
}

/** Runs something, and tells what it cost; what is metered in it on its own is left out. */
export async function metered<T>(run: () => Promise<T>): Promise<Metered<T>> {
  const calls: Call[] = [];
  const start = performance.now();
  const response = await recordings.run(calls, run);
  return { response, calls, milliseconds: performance.now() - start };
}

export const readUnits = (calls: readonly Call[]) => sum(calls.map(({ read }) => read));
export const writeUnits = (calls: readonly Call[]) => sum(calls.map(({ write }) => write));
export const largestTransaction = (calls: readonly Call[]) => Math.max(0, ...calls.map(({ items }) => items));

/** The most calls of which none overlaps another: those that may have waited for each other. */
export function roundTrips(calls: readonly Call[]): number {
  let trips = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const call of calls.toSorted((a, b) => a.end - b.end)) {
    if (call.start < end) continue;
    trips++;
    end = call.end;
  }
  return trips;
}
