import { conversationStatusKeys } from "../../../shared/domain/conversations.ts";
import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { normalizeLabel } from "../../../shared/normalize-label.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateConversation } from "../../../shared/schemas/record-validators.ts";
import { UserError } from "../../user-error.ts";
import { activation } from "../table/active-conversation.ts";
import { asChange, retryChange } from "../table/write-items.ts";

/**
 * Changes the status of a conversation, to the stored form of the requested one. A lead has at most one active
 * conversation on a channel. After it ends, the next message starts another.
 *
 * @returns the changed conversation; undefined when the account has no such conversation
 * @throws InvalidItemError, or UserError when another conversation of the lead on the channel is active
 * @throws StaleReadError, or the error of a conflict, when other writers won for ten seconds
 */
export function setConversationStatus(
  account: string,
  id: string,
  requested: string,
): Promise<Conversation | undefined> {
  const status = normalizeLabel(requested);
  return retryChange(async () => {
    const key = conversationKey(account, id);
    const item = await readItem(key);
    if (!item) return undefined;
    const conversation = { ...readRecord(validateConversation, item), status };
    const set = { status, ...conversationStatusKeys(account, conversation) };
    const update = buildUpdate(key, asChange(item, set), { status: item.status });
    if (status !== active) return readRecord(validateConversation, await updateItem(update));
    const { items, activeId } = await activation(account, conversation);
    if (activeId !== undefined)
      throw new UserError(
        `The lead has another active conversation on this channel, ${activeId}: end that one first.`,
      );
    await transact([{ Update: update }, ...items]);
    return conversation;
  });
}
