import {
  conversationStatusKeys,
  isNotJoinable,
  toConversation,
} from "../../../shared/domain/conversations.ts";
import { storedName } from "../../../shared/domain/stored-name.ts";
import { isRetryable } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { activeConversationKey, conversationKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { UserError } from "../../errors.ts";
import { areUnchanged, buildUpdate, updateItem } from "../common/write-items.ts";
import { isKeyPart } from "../erasure/lead-items.ts";

/**
 * Changes the status of a conversation, to the stored form of the requested one. A lead has at most one active
 * conversation on a channel. After it ends, the next message starts another.
 *
 * @param deadline until when to retry, in milliseconds since the epoch
 * @param dryRun whether to write nothing
 * @returns the changed conversation; undefined when the account has no such conversation
 * @throws UserError when another conversation of the lead on the channel is active, or when nobody can tell
 * @throws StaleReadError, or the error of a conflict, when other writers won until the deadline
 */
export function setConversationStatus(
  account: string,
  id: string,
  requested: string,
  deadline: number,
  dryRun = false,
): Promise<Conversation | undefined> {
  const status = storedName(requested);
  return withRetry(
    async () => {
      const current = await readConversation(account, id);
      if (!current) return undefined;
      for (const name of ["leadId", "channel"] as const)
        if (!isKeyPart(current[name]))
          throw new UserError(`The conversation ${id} cannot be changed: its ${name} cannot be read.`);
      const conversation = { ...current, status };
      const set = { status, ...conversationStatusKeys(account, conversation) };
      const update = buildUpdate(conversationKey(account, id), set);
      if (status !== active) return dryRun ? conversation : toConversation(await updateItem(update));
      const { items, activeId } = await activation(account, conversation);
      if (activeId !== undefined)
        throw new UserError(
          `The lead has another active conversation on this channel, ${activeId}: end that one first.`,
        );
      if (!dryRun) await transact([{ Update: update }, ...items]);
      return conversation;
    },
    { deadline, isRetryable },
  );
}

/**
 * What a transaction that makes a conversation active writes and checks besides: the pointer of its lead on its channel
 * names it, and the conversation that it named before is not active.
 *
 * @returns `activeId` if another conversation is active in its place; `isNamed` if the pointer names it already
 */
export async function activation(
  account: string,
  conversation: Pick<Conversation, "id" | "leadId" | "channel">,
): Promise<{ readonly items: TransactItems; readonly activeId?: string; readonly isNamed: boolean }> {
  const { id, leadId, channel } = conversation;
  const key = activeConversationKey(account, leadId, channel);
  const pointer = await readItem(key);
  const named = pointer?.conversationId;
  const other = isKeyPart(named) && named !== id ? named : undefined;
  if (other !== undefined && (await readConversation(account, other))?.status === active)
    return { items: [], activeId: other, isNamed: false };
  const { conditions, names, values } = areUnchanged({ conversationId: named });
  const asRead = pointer
    ? {
        ConditionExpression: conditions.join(" AND "),
        ExpressionAttributeNames: names,
        ...(named !== undefined && { ExpressionAttributeValues: values }),
      }
    : { ConditionExpression: "attribute_not_exists(pk)" };
  return {
    items: [
      { Put: { TableName: tableName, Item: { ...key, conversationId: id }, ...asRead } },
      ...(other === undefined ? [] : [isNotJoinable(account, other, conversation)]),
    ],
    isNamed: named === id,
  };
}

async function readConversation(account: string, id: string): Promise<Conversation | undefined> {
  const item = await readItem(conversationKey(account, id));
  return item && toConversation(item);
}
