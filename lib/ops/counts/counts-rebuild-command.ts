import type { Command } from "commander";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import { UserError } from "../../errors.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, writingAccountOrAllCommand } from "../common/options.ts";
import { type OnRows, withProgress } from "../common/progress.ts";
import { countedOwners, forEachAccount } from "./all-owners.ts";
import { countRows } from "./list-reading.ts";
import { rebuild } from "./rebuild.ts";

interface RebuildOptions extends AccountsOptions {
  readonly dryRun?: boolean;
}

/** `counts rebuild`: empties the counts of an account, or of all accounts, and counts again. */
export const rebuildCommand = (wait: Wait): Command =>
  writingAccountOrAllCommand(
    "rebuild",
    "count all rows again; until that is done, long lists may return 503; takes at least a minute",
  ).action((options: RebuildOptions) => rebuildCounts(options, wait));

async function rebuildCounts(options: RebuildOptions, wait: Wait): Promise<void> {
  const pace = await selectPacedAccounts(options, wait);
  const { account, json, dryRun } = options;
  const rebuildAccount = async (account: string, onRows: OnRows = () => {}) => {
    const owners = countedOwners(account);
    if (dryRun) return { rebuilt: false, rows: await countRows(owners, pace) };
    await Promise.all(owners.map((owner) => rebuild(owner, { pace, onRows })));
    return { rebuilt: true };
  };
  if (account === undefined) {
    const { outcomes, failed } = await forEachAccount("counts rebuild", options, {
      pace,
      work: (account) => rebuildAccount(account),
      describe: ({ rebuilt, rows }) => (rebuilt ? "rebuilt" : `${rows} rows would be read`),
    });
    const done = outcomes.filter(({ result }) => result !== undefined).length;
    const verb = dryRun ? "would be" : "are";
    if (!json) console.log(`The counts of ${done} of ${outcomes.length} accounts ${verb} rebuilt.`);
    if (failed !== undefined) throw new UserError(failed);
    return;
  }
  // The rows are read for the list, and again for its sublists.
  const planRows = async () => 2 * (await countRows(countedOwners(account), pace));
  const { rebuilt, rows } = dryRun
    ? await rebuildAccount(account)
    : await withProgress("Rebuilding", planRows, (onRows) => rebuildAccount(account, onRows));
  const sentence = rebuilt
    ? `The counts of the account ${account} are rebuilt.`
    : `The counts of the account ${account} would be rebuilt: ${rows} rows would be read, at most three times.`;
  console.log(json ? JSON.stringify({ account, rebuilt, rows }) : sentence);
}
