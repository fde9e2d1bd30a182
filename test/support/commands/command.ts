import type { Command } from "commander";
import { vi } from "vitest";
import { tableName } from "../../../shared/dynamodb/table-client.ts";

/**
 * Runs a command in this process, on the test file's table unless `--local` is among the arguments.
 *
 * @returns what it printed, and the message of its error
 */
export async function runCommand(command: Command, ...args: string[]) {
  const table = args.includes("--local") ? [] : ["--table", tableName];
  const printed: unknown[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  const failure: unknown = await command.parseAsync([...args, ...table], { from: "user" }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  log.mockRestore();
  return { printed, failure };
}

/** Runs a command with `--json`. @returns what it printed, parsed */
export async function runJson(command: Command, ...args: string[]) {
  const { printed, failure } = await runCommand(command, ...args, "--json");
  return { failure, output: typeof printed[0] === "string" ? JSON.parse(printed[0]) : undefined };
}
