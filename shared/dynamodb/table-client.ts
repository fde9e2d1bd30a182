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
import { unprocessed } from "./dynamodb-errors.ts";
import { readNumbers } from "./invalid-items.ts";

/** The primary key of an item. */
export type Key = Readonly<{ pk: string; sk: string }>;

/** The attributes of an item, or some of them. */
export type Item = Readonly<Record<string, unknown>>;

/** How long after the start of a call its second attempt may start, in milliseconds. */
const latestAttempt = 1500;

/** The longest delay before the second attempt, in milliseconds: the SDK's own is ten times as long after a throttle. */
const longestDelay = 100;

let units = { reads: 0, writes: 0 };

/**
 * A function's calls. A request makes its ids right before a call, so no attempt starts with an id older than 1.5 s, and
 * none lands after 2.5 s.
 */
const client = new DynamoDBClient({
  retryStrategy: new ConfiguredRetryStrategy(2, () => Math.random() * longestDelay),
  requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
});

function countUnits({ middlewareStack }: Pick<DynamoDBClient, "middlewareStack">): void {
  middlewareStack.add(
    (next, context) => async (args) => {
      // DynamoDB charges for them anyway, and nothing for their number.
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

// A function that responds before its time is up may leave a call behind when Lambda freezes the environment. Without
// this, the call would go on in the next invocation, at any later time.
client.middlewareStack.add(
  (next) => {
    // The SDK builds the handler of each call when it starts.
    const start = Date.now();
    return (args) => {
      if (Date.now() - start <= latestAttempt) return next(args);
      // Named like the timeout of the attempt before it.
      throw Object.assign(new Error("Too late for another attempt."), { name: "TimeoutError" });
    };
  },
  { step: "finalizeRequest", priority: "low" },
);

/**
 * The units that calls of the table have consumed since the last time: of one request, because an environment serves one at
 * a time.
 */
export function takeUnits(): Readonly<typeof units> {
  const taken = units;
  units = { reads: 0, writes: 0 };
  return taken;
}

/** Maps of callers may have the name `constructor`, as instances of classes do. */
export const writtenValues = { removeUndefinedValues: true, convertClassInstanceToMap: true };

function toDocumentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  // Without it, the SDK removes sensitive values from a copy of each request and response, for a log that nobody writes.
  client.middlewareStack.remove("loggerMiddleware");
  return DynamoDBDocumentClient.from(client, {
    // Copies, because the client changes them.
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

/** A client with other settings, which reads items as that of the table does. */
export const createTableClient = (config: DynamoDBClientConfig) =>
  toDocumentClient(new DynamoDBClient(config));

/** Selects another table, with another client's settings: for commands, which have no environment of a function. */
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
 * Reads items as they are at one moment. A transaction that other reads show in part is seen whole, or not at all.
 *
 * @returns the items of the keys, in their order
 * @throws TransactionCanceledException while a transaction writes one of them
 */
export async function readTogether(
  keys: readonly Key[],
  options: ReadOptions = {},
): Promise<readonly (Item | undefined)[]> {
  const TransactItems = keys.map((Key) => ({ Get: { TableName: tableName, Key } }));
  const { Responses = [] } = await table.send(new TransactGetCommand({ TransactItems }), options);
  return Responses.map(({ Item }) => Item);
}

/** The condition that an attribute is as it was read, of whatever type; undefined if there was none. */
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
 * Reads items, those that exist, in any order: in one call, if they have less than 16 MB.
 *
 * @param keys at most `maxBatchKeys`, each different
 * @throws ProvisionedThroughputExceededException when the table throttled all of a call
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
