import { vi } from "vitest";
import { accountsCommand } from "../../../../../lib/ops/accounts/accounts-command.ts";
import { runJson } from "../../../../support/commands/command.ts";

/** Runs `accounts …` on the test file's table. */
export async function accounts(...args: string[]) {
  const printed: unknown[] = [];
  const error = vi.spyOn(console, "error").mockImplementation((text) => void printed.push(text));
  const outcome = await runJson(accountsCommand(), ...args);
  error.mockRestore();
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { ...outcome, code, printed: printed.join("\n") };
}

/** Copies an account from another table. */
export const copy = (account: string, from: string, ...args: string[]) =>
  accounts("copy", "--account", account, "--from-table", from, ...args);

/** Copies an account from another table, and replaces what differs. */
export const replace = (account: string, from: string, ...args: string[]) =>
  copy(account, from, "--replace", "--yes", ...args);
