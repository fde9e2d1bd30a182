import { startCommand } from "../lib/local/command.ts";
import { LocalRunError } from "../lib/local/errors.ts";

try {
  await startCommand().parseAsync();
} catch (error) {
  console.error(error instanceof LocalRunError ? error.message : error);
  process.exit(1);
}
