import { isText } from "../dynamodb/invalid-items.ts";
import { channelKey, senderKey } from "../dynamodb/keys.ts";
import { type Key, readItem, tableName } from "../dynamodb/table-client.ts";
import { transact } from "../dynamodb/transact.ts";
import type { MetaChannel } from "../meta-channels.ts";

/** A sender through which an account reaches its leads on a channel. */
export interface Connection {
  readonly account: string;
  readonly channel: MetaChannel;
  /** Meta's id of the telephone number or of the Instagram account. */
  readonly sender: string;
}

/**
 * Reads the sender of an account on a channel, and the time of its connection: earlier messages are not sent. Returns
 * undefined if the account has not connected the channel.
 */
export async function readConnection(account: string, channel: MetaChannel) {
  const { sender, connectedAt } = (await readItem(channelKey(account, channel))) ?? {};
  return isText(sender) && isText(connectedAt) ? { sender, connectedAt } : undefined;
}

/** The account that has connected a sender; undefined if none has. */
export async function readSenderAccount(channel: MetaChannel, sender: string): Promise<string | undefined> {
  const account = (await readItem(senderKey(channel, sender)))?.accountId;
  return isText(account) ? account : undefined;
}

/**
 * Connects a sender. A sender that is already connected stays as it is. One that replaces another has the time of the former
 * connection, so that it sends the messages that wait.
 *
 * @param former the sender that this one replaces; `isOwner` as in `disconnect`
 * @throws StaleReadError if another account has the sender, or the account has another sender than the former one
 */
export const connect = (
  { account, channel, sender }: Connection,
  former?: { sender: string; isOwner: boolean },
): Promise<void> =>
  transact([
    setOwn(channelKey(account, channel), "sender", sender, { former: former?.sender }),
    setOwn(senderKey(channel, sender), "accountId", account),
    ...(former?.isOwner ? [deleteSender({ account, channel, sender: former.sender })] : []),
  ]);

/** Stores a new item with the time of the connection. An item that exists keeps its time, and has this value or the former. */
export const setOwn = (
  Key: Key,
  name: string,
  value: string,
  { at = new Date().toISOString(), former = value } = {},
) => ({
  Update: {
    TableName: tableName,
    Key,
    UpdateExpression: "SET #own = :own, connectedAt = if_not_exists(connectedAt, :now)",
    ConditionExpression: "attribute_not_exists(pk) OR #own = :own OR #own = :former",
    ExpressionAttributeNames: { "#own": name },
    ExpressionAttributeValues: { ":own": value, ":former": former, ":now": at },
  },
});

/**
 * Deletes a connection. From then on, messages of the channel are left to the event bus.
 *
 * @param isOwner whether the account has the sender. In a damaged table, it may be another account's, which keeps it
 * @throws StaleReadError if the account does not have the sender any more
 */
export const disconnect = (connection: Connection, isOwner = true): Promise<void> =>
  transact([
    { Delete: { TableName: tableName, Key: channelKey(connection.account, connection.channel) } },
    ...(isOwner ? [deleteSender(connection)] : []),
  ]);

const deleteSender = ({ account, channel, sender }: Connection) => ({
  Delete: {
    TableName: tableName,
    Key: senderKey(channel, sender),
    ConditionExpression: "accountId = :account",
    ExpressionAttributeValues: { ":account": account },
  },
});
