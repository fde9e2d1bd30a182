import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { type IndexName, indexes, sourceOrChannelPartition, statusPartition } from "../dynamodb/keys.ts";
import { table, tableName } from "../dynamodb/table-client.ts";

/** The stored form of a lead's source, for an account. */
export const storedSource = (account: string, source: string) =>
  storedName(source, "by-origin", (name) => sourceOrChannelPartition("lead", account, name));

/** The stored form of a conversation's channel, for an account. */
export const storedChannel = (account: string, channel: string) =>
  storedName(channel, "by-origin", (name) => sourceOrChannelPartition("conversation", account, name));

/** The stored form of a conversation's status, for an account. */
export const storedConversationStatus = (account: string, status: string) =>
  storedName(status, "by-status", (name) => statusPartition("conversation", account, name));

/**
 * The form in which a name is stored and compared: lower case, so that two spellings are one name.
 *
 * Names were stored as they were sent before. A spelling with capital letters that rows of the account have stays as it
 * is, so that these rows are found and joined as before. A name in lower case needs no call, any other one half a unit.
 *
 * @param partition builds the partition of the index that has the rows with a name
 */
async function storedName(
  name: string,
  index: IndexName,
  partition: (name: string) => string,
): Promise<string> {
  const lowerCase = toLowerCase(name);
  return lowerCase === name || (await hasRows(index, partition(name))) ? name : lowerCase;
}

/** Without `İ`, the one character whose lower case is two, so that no name becomes longer than it may be. */
const toLowerCase = (name: string) => name.replace(/[^İ]+/g, (part) => part.toLowerCase());

async function hasRows(index: IndexName, partition: string): Promise<boolean> {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName,
      IndexName: index,
      KeyConditionExpression: "#partition = :partition",
      ExpressionAttributeNames: { "#partition": indexes[index] },
      ExpressionAttributeValues: { ":partition": partition },
      ProjectionExpression: "pk",
      Limit: 1,
    }),
  );
  return Items.length > 0;
}
