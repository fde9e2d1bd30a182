import { conversationKey } from "../../dynamodb/keys.ts";
import { ApiError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { normalizeLabel } from "../../normalize-label.ts";
import { active, type Conversation, type ConversationUpdate } from "../../schemas/conversation-schemas.ts";
import { validateConversation } from "../../schemas/record-validators.ts";
import type { IdempotentRequest, WriteOutcome } from "../idempotent-replay.ts";
import { notFound } from "../not-found.ts";
import { updateRecord } from "../update-record.ts";
import { activation } from "./active-conversation.ts";
import { conversationItem } from "./conversations.ts";

/**
 * Ends a conversation, or makes it active again. Its end takes the waiting for a reply away, and being active again does not
 * bring it back. A request with a number of messages changes a conversation only while it has that number.
 *
 * @throws ApiError `conversation_not_found`, `conversation_exists`, `conversation_changed` or `idempotency_key_reused`
 * @throws TooManyAtOnceError when other writes of the conversation win
 */
export async function updateConversation(
  account: string,
  { id, status: requested, messageCount }: ConversationUpdate,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Conversation>> {
  const status = normalizeLabel(requested);
  if (!isId("conv", id)) throw notFound("conversation", "id", id);
  const key = conversationKey(account, id);
  return updateRecord(
    { account, noun: "conversation", key, conversationId: id, validate: validateConversation },
    idempotency,
    ["status", "activeAt"],
    async (read) => {
      if (messageCount !== undefined && messageCount !== read.messageCount) throw hasOtherMessages(read);
      const isWaiting = status !== active && read.awaitingReplySince !== undefined;
      if (read.status === status && !isWaiting) return { record: read };
      const record = { ...read, status, awaitingReplySince: undefined };
      const { byStatus, byStatusAndLabel } = conversationItem(account, record);
      const changes = { status, byStatus, byStatusAndLabel, awaitingReplySince: undefined };
      if (status !== active) return { record, changes };
      const { items, activeId } = await activation(account, record);
      if (activeId !== undefined) throw anotherIsActive(activeId);
      return { record, changes, others: items };
    },
  );
}

const hasOtherMessages = ({ id, messageCount }: Conversation) =>
  new ApiError(
    "conversation_changed",
    `The conversation has ${messageCount} messages now. Read it, and try again if its status should still change.`,
    { id },
  );

const anotherIsActive = (id: string) =>
  new ApiError(
    "conversation_exists",
    `The lead has another active conversation on this channel: ${id}. End that one first.`,
    { id },
  );
