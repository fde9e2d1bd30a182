import { Command } from "commander";
import { conversationsCommand } from "../lib/ops/conversations-command.ts";
import { countsCommand } from "../lib/ops/counts-command.ts";
import { keysCommand } from "../lib/ops/keys-command.ts";
import { leadsCommand } from "../lib/ops/leads-command.ts";

const program = new Command("npm run ops --")
  .description("The operator's commands. Credentials, region and endpoint are the AWS SDK's usual ones.")
  .addCommand(keysCommand())
  .addCommand(leadsCommand())
  .addCommand(conversationsCommand())
  .addCommand(countsCommand());

try {
  await program.parseAsync();
} catch (error) {
  console.error(
    error instanceof Error ? `${error.name === "UserError" ? "" : `${error.name}: `}${error.message}` : error,
  );
  process.exitCode = 1;
}
