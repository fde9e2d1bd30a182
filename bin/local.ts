import { run } from "../lib/command-line.ts";
import { startCommand } from "../lib/local/command.ts";

await run(() => startCommand().parseAsync());
// After a failure, what has already started would keep the process alive.
if (process.exitCode) process.exit();
