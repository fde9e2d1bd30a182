import { Command, InvalidArgumentError } from "commander";
import { UserError } from "../errors.ts";
import { type WritingOptions, writingCommand } from "./account-command.ts";
import { deadline } from "./deadline.ts";
import { selectTable } from "./select-table.ts";

interface SetStatusOptions extends WritingOptions {
  readonly conversation: string;
  readonly status: string;
}

/** `conversations set-status`: how an operator ends a conversation, or takes it up again. */
export function conversationsCommand(): Command {
  return new Command("conversations")
    .description("change an account's conversations")
    .addCommand(
      writingCommand("set-status", "give a conversation another status; any but `active` ends it")
        .requiredOption("--conversation <id>", "the conversation's id")
        .requiredOption("--status <status>", "the new status, as active or closed", status)
        .action(setStatus),
    );
}

function status(text: string): string {
  if (!/^[^\p{Cc}\p{Cs}]{1,64}$/u.test(text)) {
    throw new InvalidArgumentError("A status has 1 to 64 characters, and no control characters.");
  }
  return text;
}

async function setStatus(options: SetStatusOptions): Promise<void> {
  await selectTable(options);
  // Imported only here, because it connects to the table that `selectTable` has chosen.
  const { setConversationStatus } = await import("./conversation-status.ts");
  const { account, conversation: id, status, json, dryRun } = options;
  const change = await setConversationStatus(account, id, status, deadline(), dryRun);
  if (change.outcome === "unknown") throw new UserError(`The account ${account} has no conversation ${id}.`);
  if (change.outcome === "refused") {
    throw new UserError(
      `The lead has another active conversation on this channel, ${change.activeId}: end that one first.`,
    );
  }
  const verb = dryRun ? "would have" : "has";
  console.log(
    json ? JSON.stringify(change.conversation) : `The conversation ${id} ${verb} the status ${status}.`,
  );
}
