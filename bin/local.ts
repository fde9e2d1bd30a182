import { runCommand } from "../lib/local/command.ts";
import { LocalRunError } from "../lib/local/errors.ts";

try {
  await runCommand(process.env);
} catch (error) {
  console.error(error instanceof LocalRunError ? error.message : error);
  process.exit(1);
}
