import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { isBusy } from "../dynamodb/dynamodb-errors.ts";
import { indexes, sourceOrChannelPartition, statusPartition } from "../dynamodb/keys.ts";
import { withRetry } from "../dynamodb/retry.ts";
import { table, tableName } from "../dynamodb/table-client.ts";
import { type Range, rangeId } from "../pages/range.ts";
import { withinBudget } from "../pages/read-budget.ts";

/** A range of an index. */
type IndexRange = Range & { readonly index: NonNullable<Range["index"]> };

/** Makes the call that finds out whether a range has rows. */
type Caller = (
  range: IndexRange,
  hasRows: (options?: { readonly abortSignal: AbortSignal }) => Promise<boolean>,
) => Promise<boolean>;

/** With the bounds of a list, and a backoff of its own: it succeeds where a list of the range may be throttled. */
export const asList: Caller = (range, hasRows) =>
  withinBudget(`name in ${rangeId(range)}`, undefined, (call) => call(hasRows));

/** @param deadline until when to retry while the table is busy, in milliseconds since the epoch */
export const retriedUntil =
  (deadline: number): Caller =>
  (_, hasRows) =>
    withRetry(() => hasRows(), { deadline, isRetryable: isBusy });

/** The stored form of a lead's source, for an account. */
export const storedSource = (account: string, source: string, caller: Caller) =>
  storedName(
    source,
    (name) => ({ index: "by-origin", partition: sourceOrChannelPartition("lead", account, name) }),
    caller,
  );

/** The stored form of a conversation's channel, for an account. */
export const storedChannel = (account: string, channel: string, caller: Caller) =>
  storedName(
    channel,
    (name) => ({ index: "by-origin", partition: sourceOrChannelPartition("conversation", account, name) }),
    caller,
  );

/** The stored form of a conversation's status, for an account. */
export const storedConversationStatus = (account: string, status: string, caller: Caller) =>
  storedName(
    status,
    (name) => ({ index: "by-status", partition: statusPartition("conversation", account, name) }),
    caller,
  );

/**
 * The form in which a name is stored and compared: lower case, so that two spellings are one name.
 *
 * Names were stored as they were sent before. A spelling with capital letters that rows of the account have stays as it
 * is, so that these rows are found and joined as before. A name in lower case needs no call.
 *
 * @param rangeOf the range of the index that has the rows with a name
 */
async function storedName(
  name: string,
  rangeOf: (name: string) => IndexRange,
  caller: Caller,
): Promise<string> {
  const lowerCase = toLowerCase(name);
  if (lowerCase === name) return name;
  const range = rangeOf(name);
  const isStored = await caller(range, (options) => hasRows(range, options));
  return isStored ? name : lowerCase;
}

/** Without `İ`, the one character whose lower case is two, so that no name becomes longer than it may be. */
const toLowerCase = (name: string) => name.replace(/[^\u0130]+/g, (part) => part.toLowerCase());

async function hasRows(
  { index, partition }: IndexRange,
  options: { readonly abortSignal?: AbortSignal } = {},
): Promise<boolean> {
  const query = new QueryCommand({
    TableName: tableName,
    IndexName: index,
    KeyConditionExpression: "#partition = :partition",
    ExpressionAttributeNames: { "#partition": indexes[index] },
    ExpressionAttributeValues: { ":partition": partition },
    ProjectionExpression: "pk",
    Limit: 1,
  });
  const { Items = [] } = await table.send(query, options);
  return Items.length > 0;
}

export const toStoredName = toLowerCase;
