import { Command } from "commander";
import { keysCommand } from "../lib/ops/keys.ts";

const program = new Command("npm run ops --")
  .description("The operator's commands. Credentials, region and endpoint are the AWS SDK's usual ones.")
  .addCommand(keysCommand());

try {
  await program.parseAsync();
} catch (error) {
  console.error(
    error instanceof Error
      ? `${error.name === "OperatorError" ? "" : `${error.name}: `}${error.message}`
      : error,
  );
  process.exitCode = 1;
}
