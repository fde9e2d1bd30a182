import { AsyncLocalStorage } from "node:async_hooks";
import { table } from "../../shared/dynamodb/table-client.ts";
import { sum } from "./statistics.ts";

/** The purpose of a table call, derived from its input. */
export type Part = "root" | "newest rows" | "nodes" | "rows" | "counting" | "recounting" | "writing";

/** A table call: its start and end in milliseconds, and the units that it consumed. */
export interface Call {
  readonly part: Part;
  readonly start: number;
  readonly end: number;
  readonly read: number;
  readonly write: number;
  /** How many items a transaction has. */
  readonly items: number;
}

/** A result, and the table calls that it took. */
export interface Metered<T> {
  readonly result: T;
  readonly calls: readonly Call[];
  readonly milliseconds: number;
}

interface Input {
  ReturnConsumedCapacity?: string;
  readonly Key?: Key;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Key[] }>>;
  readonly Select?: string;
  readonly KeyConditionExpression?: string;
  readonly ProjectionExpression?: string;
  readonly TransactItems?: readonly unknown[];
}

interface Key {
  readonly sk?: unknown;
}

interface Consumed {
  readonly CapacityUnits?: number;
}

interface Output {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

/** A method of the SDK's own request handler that its type leaves out. */
interface AdjustableHandler {
  updateHttpClientConfig(name: "requestTimeout", milliseconds: number): void;
}

/** How long a call may take, in milliseconds. */
const timeout = 30_000;

const recordings = new AsyncLocalStorage<Call[]>();

/** Makes the client request the consumed capacity of each call and record it for the enclosing `metered`. */
export function installMeter(): void {
  // A busy machine must not end the run.
  const handler = table.config.requestHandler as unknown as AdjustableHandler;
  handler.updateHttpClientConfig("requestTimeout", timeout);
  table.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const calls = recordings.getStore();
        const input = args.input as Input;
        input.ReturnConsumedCapacity = "TOTAL";
        const start = performance.now();
        const result = await next(args);
        const end = performance.now();
        const units = consumedUnits(result.output as Output);
        const isRead = /^(?:BatchGet|Get|Query)/.test(commandName);
        calls?.push({
          part: isRead ? toPart(input) : "writing",
          ...{ start, end, read: isRead ? units : 0, write: isRead ? 0 : units },
          items: input.TransactItems?.length ?? 0,
        });
        return result;
      },
    { step: "initialize", name: "meter", priority: "high" },
  );
}

function consumedUnits({ ConsumedCapacity = [] }: Output): number {
  return sum([ConsumedCapacity].flat().map(({ CapacityUnits = 0 }) => CapacityUnits));
}

function toPart(input: Input): Part {
  const { Key, RequestItems, Select, KeyConditionExpression = "", ProjectionExpression } = input;
  if (Key) return isNode(Key) ? "nodes" : "root";
  if (RequestItems)
    return Object.values(RequestItems).some(({ Keys }) => Keys?.some(isNode)) ? "nodes" : "rows";
  if (ProjectionExpression === "sk" || Select === "COUNT") return "counting";
  if (ProjectionExpression) return "recounting";
  return KeyConditionExpression.includes(" AND ") ? "rows" : "newest rows";
}

const isNode = ({ sk }: Key) => JSON.stringify(sk).includes("node#");

/** Runs a function and returns its table calls, except those of a nested `metered`. */
export async function metered<T>(run: () => Promise<T>): Promise<Metered<T>> {
  const calls: Call[] = [];
  const start = performance.now();
  const result = await recordings.run(calls, run);
  return { result, calls, milliseconds: performance.now() - start };
}

export const readUnits = (calls: readonly Call[]) => sum(calls.map(({ read }) => read));
export const writeUnits = (calls: readonly Call[]) => sum(calls.map(({ write }) => write));
export const largestTransaction = (calls: readonly Call[]) => Math.max(0, ...calls.map(({ items }) => items));

/** The largest number of calls of which no two overlap: those that may have waited for each other. */
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
