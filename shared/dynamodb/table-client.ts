import {
  type ConsumedCapacity as Consumed,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  TransactGetCommand,
} from "@aws-sdk/lib-dynamodb";
import { ConfiguredRetryStrategy } from "@smithy/core/retry";
import type { Item } from "../schemas/record.ts";
import { unprocessed } from "./dynamodb-errors.ts";
import { readNumbers } from "./invalid-items.ts";

/** The primary key of an item. */
export type Key = Readonly<{ pk: string; sk: string }>;

// Defined there, because records import nothing of the table.
export type { Item };

/** How long after the start of a call its second attempt may start, in milliseconds. */
const latestAttempt = 1500;

/** The longest delay before the second attempt, in milliseconds: the SDK's own is ten times as long after a throttle. */
const longestDelay = 100;

let units = { reads: 0, writes: 0 };

/**
 * The client of a function. A request makes its ids right before a call, so no attempt starts when its ids are older than
 * 1.5 s, and none lands when they are older than 2.5 s.
 */
const client = new DynamoDBClient({
  retryStrategy: new ConfiguredRetryStrategy(2, () => Math.random() * longestDelay),
  requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
});

function countUnits({ middlewareStack }: Pick<DynamoDBClient, "middlewareStack">): void {
  middlewareStack.add(
    (next, context) => async (args) => {
      // DynamoDB does not charge for returning the consumed units.
      Object.assign(args.input, { ReturnConsumedCapacity: "TOTAL" });
      const result = await next(args);
      const { ConsumedCapacity: consumed = [] } = result.output as {
        ConsumedCapacity?: Consumed | Consumed[];
      };
      const kind = /Get|Query|Scan/.test(context.commandName ?? "") ? "reads" : "writes";
      for (const { CapacityUnits = 0 } of [consumed].flat()) units[kind] += CapacityUnits;
      return result;
    },
    { step: "initialize" },
  );
}
countUnits(client);

// A function may respond while a call is still under way, and Lambda then freezes the environment. Without this check, the
// call could make its second attempt in the next invocation, at any later time.
client.middlewareStack.add(
  (next) => {
    // The SDK builds the handler of a call when the call starts.
    const start = Date.now();
    return (args) => {
      if (Date.now() - start <= latestAttempt) return next(args);
      // Has the name of the error of the first attempt, a timeout.
      throw Object.assign(new Error("Too late for another attempt."), { name: "TimeoutError" });
    };
  },
  { step: "finalizeRequest", priority: "low" },
);

/**
 * Returns the units that calls of the table have consumed since this function was last called. They are of one request,
 * because an environment serves one request at a time.
 */
export function takeUnits(): Readonly<typeof units> {
  const taken = units;
  units = { reads: 0, writes: 0 };
  return taken;
}

/** A map from a caller may have an entry `constructor`, so the SDK would take it for an instance of a class. */
export const writtenValues = { removeUndefinedValues: true, convertClassInstanceToMap: true };

function toDocumentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  // This middleware copies each request and response without sensitive values, for a log that is never written.
  client.middlewareStack.remove("loggerMiddleware");
  return DynamoDBDocumentClient.from(client, {
    // The options are copied, because the client changes them.
    marshallOptions: { ...writtenValues },
    unmarshallOptions: { ...readNumbers },
  });
}

/** The client of the table, kept for the life of the execution environment. */
export let table = toDocumentClient(client);

/** The name of the one table. */
export let tableName = process.env.TABLE_NAME ?? "";

// A wrong deployment fails at cold start.
if (!tableName && process.env.AWS_LAMBDA_FUNCTION_NAME) throw new Error("TABLE_NAME is not set.");

/** Creates a client with other settings, which reads items as the client of the table does. */
export const createTableClient = (config: DynamoDBClientConfig) =>
  toDocumentClient(new DynamoDBClient(config));

/** Selects another table and client settings: for commands, which do not run in the environment of a function. */
export function selectTable(name: string, config: DynamoDBClientConfig): void {
  tableName = name;
  table = createTableClient(config);
  countUnits(table);
}

/** Reads an item, or a part of it, consistently. */
export async function readItem(
  key: Key,
  part: { readonly ProjectionExpression?: string } = {},
  options: ReadOptions = {},
): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true, ...part });
  return (await table.send(command, options)).Item;
}

/**
 * Reads items as they are at one moment. Single reads can see a part of a transaction; here it is seen whole, or not at all.
 *
 * @returns the items, in the order of the keys
 * @throws TransactionCanceledException while a transaction writes one of the items
 */
export async function readTogether(
  keys: readonly Key[],
  options: ReadOptions = {},
): Promise<readonly (Item | undefined)[]> {
  const TransactItems = keys.map((Key) => ({ Get: { TableName: tableName, Key } }));
  const { Responses = [] } = await table.send(new TransactGetCommand({ TransactItems }), options);
  return Responses.map(({ Item }) => Item);
}

/** The condition that an attribute of any type is as it was read. @param value undefined if the attribute was missing */
export const isAsRead = (name: string, value: unknown) =>
  value === undefined
    ? { ConditionExpression: `attribute_not_exists(${name})` }
    : { ConditionExpression: `${name} = :read`, ExpressionAttributeValues: { ":read": value } };

/** How items are read. */
export interface ReadOptions {
  readonly abortSignal?: AbortSignal;
  /** Called with the read units of each call. */
  readonly onUnits?: (units: number) => void;
}

/** The most items of one call. */
export const maxBatchKeys = 100;

/**
 * Reads the items that exist, in any order: in one call, if they have less than 16 MB.
 *
 * @param keys at most `maxBatchKeys`, each different
 * @throws ProvisionedThroughputExceededException when the table throttled all keys of a call
 */
export async function readItems(
  keys: readonly Key[],
  consistent: boolean,
  { onUnits, ...options }: ReadOptions = {},
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let Keys: Record<string, unknown>[] = [...keys]; Keys.length > 0; ) {
    const RequestItems = { [tableName]: { Keys, ConsistentRead: consistent } };
    const response = await table.send(new BatchGetCommand({ RequestItems }), options);
    for (const { CapacityUnits = 0 } of response.ConsumedCapacity ?? []) onUnits?.(CapacityUnits);
    const found = response.Responses?.[tableName] ?? [];
    items.push(...found);
    Keys = response.UnprocessedKeys?.[tableName]?.Keys ?? [];
    if (Keys.length > 0 && found.length === 0) throw unprocessed("keys");
  }
  return items;
}
