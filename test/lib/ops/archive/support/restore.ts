import { vi } from "vitest";
import { accountsCommand } from "../../../../../lib/ops/accounts/accounts-command.ts";
import { selectTable, tableName } from "../../../../../shared/dynamodb/table-client.ts";
import { runJson } from "../../../../support/command.ts";
import { filePath } from "../../../../support/lead-files.ts";

const noWait = async () => {};

/** Runs `accounts …` on the test file's table, without waits. */
export async function accounts(...args: string[]) {
  const own = tableName;
  const outcome = await runJson(accountsCommand(noWait), ...args);
  selectTable(own, { maxAttempts: 1 });
  return outcome;
}

/** Exports an account, from another table if one is named. @returns the path of the archive */
export async function exported(account: string, table = tableName): Promise<string> {
  const path = filePath(".jsonl");
  const own = tableName;
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const args = ["export", "--account", account, "--output", path, "--table", table];
  await accountsCommand(noWait).parseAsync(args, { from: "user" });
  log.mockRestore();
  selectTable(own, { maxAttempts: 1 });
  return path;
}

/** Imports an archive into its account, and replaces what differs. */
export const replace = (account: string, path: string, ...args: string[]) =>
  accounts("import", path, "--account", account, "--replace", "--yes", ...args);
