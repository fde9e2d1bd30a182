import type { Command } from "commander";
import { UserError } from "../../errors.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, writingAccountOrAllCommand } from "../common/options.ts";
import { unitsOption, type Wait } from "../common/pace.ts";
import { type OnRows, withProgress } from "../common/progress.ts";
import { countedOwners, forEachAccount } from "./all-owners.ts";
import { countRows } from "./all-rows.ts";
import { planRebuild, rebuild } from "./rebuild.ts";
import { repairSublists } from "./repair-sublists.ts";

interface RebuildOptions extends AccountsOptions {
  readonly dryRun?: boolean;
}

/** `counts rebuild`: builds the counts of an account, or of all accounts, from scratch. */
export const rebuildCommand = (wait: Wait): Command =>
  writingAccountOrAllCommand(
    "rebuild",
    "rebuild the counts while the API stays available, or continue a rebuild that has not ended; takes at least a minute",
  )
    .addOption(unitsOption())
    .action((options: RebuildOptions) => rebuildCounts(options, wait));

async function rebuildCounts(options: RebuildOptions, wait: Wait): Promise<void> {
  const pace = await selectPacedAccounts(options, wait);
  const { account, json, dryRun } = options;
  const rebuildAccount = async (account: string, onRows: OnRows = () => {}) => {
    const owners = countedOwners(account);
    if (dryRun) return { rebuilt: false, rows: await countRows(owners, pace) };
    const lists = owners.map(async (owner) => {
      await rebuild(owner, { pace, wait, onRows });
      await repairSublists(owner, { pace, wait, onRows });
    });
    await Promise.all(lists);
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
  const planRows = async () => {
    const plans = await Promise.all(countedOwners(account).map((owner) => planRebuild(owner, pace)));
    return plans.reduce((total, planned) => total + planned, 0);
  };
  const { rebuilt, rows } = dryRun
    ? await rebuildAccount(account)
    : await withProgress("Rebuilding", planRows, (onRows) => rebuildAccount(account, onRows));
  const sentence = rebuilt
    ? `The counts of the account ${account} are rebuilt.`
    : `The counts of the account ${account} would be rebuilt: ${rows} rows would be read, at most three times.`;
  console.log(json ? JSON.stringify({ account, rebuilt, rows }) : sentence);
}
