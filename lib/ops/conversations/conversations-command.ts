import { Command, InvalidArgumentError } from "commander";
import { UserError } from "../../errors.ts";
import { unknownItem } from "../common/known-account.ts";
import {
  type AccountOptions,
  changeDeadline,
  selectTableByOptions,
  writingCommand,
} from "../common/options.ts";
import { setConversationStatus } from "./conversation-status.ts";

/** `conversations set-status`: ends a conversation, or makes it active again. */
export function conversationsCommand(): Command {
  return new Command("conversations")
    .description("change the conversations of an account")
    .addCommand(
      writingCommand(
        "set-status",
        "change the status of a conversation; every status except `active` ends it",
      )
        .requiredOption("--conversation <id>", "the conversation's id")
        .requiredOption("--status <status>", "the new status, for example active or closed", parseStatus)
        .action(setStatus),
    );
}

function parseStatus(text: string): string {
  if (!/^[^\p{Cc}\p{Cs}]{1,64}$/u.test(text)) {
    throw new InvalidArgumentError("A status has 1 to 64 characters, and no control characters.");
  }
  return text;
}

async function setStatus(options: AccountOptions & { conversation: string; status: string }): Promise<void> {
  await selectTableByOptions(options);
  const { account, conversation: id, status, json, dryRun } = options;
  const change = await setConversationStatus(account, id, status, changeDeadline(), dryRun);
  if (change.outcome === "unknown") throw await unknownItem(options, `conversation ${id}`);
  if (change.outcome === "refused") {
    throw new UserError(
      `The lead has another active conversation on this channel, ${change.activeId}: end that one first.`,
    );
  }
  const verb = dryRun ? "would have" : "has";
  console.log(
    json
      ? JSON.stringify(change.conversation)
      : `The conversation ${id} ${verb} the status ${change.conversation.status}.`,
  );
}
