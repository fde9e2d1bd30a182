import { Command } from "commander";
import { conversationStatusKeys } from "../../../shared/domain/conversations.ts";
import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { normalizeLabel, storable } from "../../../shared/normalize-label.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateConversation } from "../../../shared/schemas/record-validators.ts";
import { UserError } from "../../user-error.ts";
import { type AccountOptions, command, parseText } from "../command/command.ts";
import { unknownItem } from "../command/known-account.ts";
import { selectTableByOptions } from "../command/select-table.ts";
import { activation } from "../table/active-conversation.ts";
import { asChange, retryChange } from "../table/write-items.ts";

/** `conversations set-status`: ends a conversation, or makes it active again. */
export function conversationsCommand(): Command {
  return new Command("conversations").description("change the conversations of an account").addCommand(
    command("set-status", "change the status of a conversation; every status except `active` ends it", {
      writes: true,
    })
      .requiredOption("--conversation <id>", "the conversation's id")
      .requiredOption("--status <status>", "the new status, for example active or closed", parseStatus)
      .action(setStatus),
  );
}

const parseStatus = parseText(
  (text) => /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(text) && storable(text),
  "A status has 1 to 64 characters, some visible, and no control characters.",
);

async function setStatus(options: AccountOptions & { conversation: string; status: string }): Promise<void> {
  await selectTableByOptions(options);
  const { account, conversation: id, status, json } = options;
  const changed = await setConversationStatus(account, id, status);
  if (!changed) throw await unknownItem(options, `conversation ${id}`);
  const sentence = `The conversation ${id} has the status ${changed.status}.`;
  console.log(json ? JSON.stringify(changed) : sentence);
}

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
