import { Command } from "commander";
import { accountsCommand } from "./accounts-command.ts";
import { apiCommand } from "./api-command.ts";
import { toUserError } from "./aws-errors.ts";
import { conversationsCommand } from "./conversations-command.ts";
import { countsCommand } from "./counts-command.ts";
import { eventsCommand } from "./events-command.ts";
import { indexCommand } from "./index-command.ts";
import { keysCommand } from "./keys-command.ts";
import { leadsCommand } from "./leads-command.ts";
import { restoreCommand } from "./restore-command.ts";

/**
 * Runs `npm run ops` with the arguments of the process.
 *
 * @throws UserError for errors that the operator can fix, also those of the AWS SDK
 */
export async function runProgram(): Promise<void> {
  const program = new Command("npm run ops --")
    .description(
      "The operator commands. Credentials, region and endpoint are configured as for the AWS SDK; with --stage, the file of the stage can have the region.",
    )
    .addCommand(keysCommand())
    .addCommand(leadsCommand())
    .addCommand(conversationsCommand())
    .addCommand(countsCommand())
    .addCommand(indexCommand())
    .addCommand(accountsCommand())
    .addCommand(eventsCommand())
    .addCommand(restoreCommand())
    .addCommand(apiCommand());
  try {
    await program.parseAsync();
  } catch (error) {
    throw await toUserError(error);
  }
}
