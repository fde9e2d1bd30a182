import { UserError } from "../lib/errors.ts";
import { startCommand } from "../lib/local/command.ts";

try {
  await startCommand().parseAsync();
} catch (error) {
  console.error(error instanceof UserError ? error.message : error);
  process.exit(1);
}
