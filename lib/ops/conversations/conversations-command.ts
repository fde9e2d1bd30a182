import { Command, InvalidArgumentError } from "commander";
import { storable } from "../../../shared/normalize-label.ts";
import { type AccountOptions, command } from "../command/command.ts";
import { unknownItem } from "../command/known-account.ts";
import { selectTableByOptions } from "../command/select-table.ts";
import { setConversationStatus } from "./conversation-status.ts";

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

function parseStatus(text: string): string {
  if (!/^[^\p{Cc}\p{Cs}]{1,64}$/u.test(text) || !storable(text)) {
    throw new InvalidArgumentError(
      "A status has 1 to 64 characters, some visible, and no control characters.",
    );
  }
  return text;
}

async function setStatus(options: AccountOptions & { conversation: string; status: string }): Promise<void> {
  await selectTableByOptions(options);
  const { account, conversation: id, status, json } = options;
  const changed = await setConversationStatus(account, id, status);
  if (!changed) throw await unknownItem(options, `conversation ${id}`);
  const sentence = `The conversation ${id} has the status ${changed.status}.`;
  console.log(json ? JSON.stringify(changed) : sentence);
}
