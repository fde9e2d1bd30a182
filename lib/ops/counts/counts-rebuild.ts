import type { Command } from "commander";
import { selectPacedAccounts } from "../command/known-account.ts";
import { type PacedAccountOptions, pacedWritingCommand } from "../command/command.ts";
import { withProgress } from "../output/progress.ts";
import { countedOwners } from "../table/counted-owners.ts";
import { countRows } from "./list-reading.ts";
import { rebuild } from "./rebuild.ts";

/** `counts rebuild`: empties the counts of an account, and counts again. */
export const rebuildCommand = (): Command =>
  pacedWritingCommand(
    "rebuild",
    "count all rows again; until that is done, long lists may return 503; takes at least a minute",
  ).action(rebuildCounts);

async function rebuildCounts(options: PacedAccountOptions): Promise<void> {
  const pace = await selectPacedAccounts(options);
  const { account, json, dryRun } = options;
  const owners = countedOwners(account);
  if (dryRun) {
    const rows = await countRows(owners, pace);
    const sentence = `The counts of the account ${account} would be rebuilt: ${rows} rows would be read, at most three times.`;
    console.log(json ? JSON.stringify({ account, rebuilt: false, rows }) : sentence);
    return;
  }
  // The rows are read for the list, and again for its sublists.
  const planRows = async () => 2 * (await countRows(owners, pace));
  await withProgress("Rebuilding", planRows, (onRows) =>
    Promise.all(owners.map((owner) => rebuild(owner, { pace, onRows }))),
  );
  console.log(
    json ? JSON.stringify({ account, rebuilt: true }) : `The counts of the account ${account} are rebuilt.`,
  );
}
