import type { Command } from "commander";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { UserError } from "../../errors.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, opsCommand, writingAccountOrAllCommand } from "../common/options.ts";
import { type Pace, unitsOption, type Wait } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { countedOwners } from "./all-owners.ts";
import { countRows, type Reading } from "./all-rows.ts";
import { describeFailed, forEachAccount } from "./each-account.ts";
import { planRebuild, rebuild } from "./rebuild/rebuild.ts";
import { repairSublists } from "./rebuild/repair-sublists.ts";

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
  if (account === undefined) return rebuildAll(options, { pace, wait });
  const owners = countedOwners(account);
  if (dryRun) {
    const rows = await countRows(owners, pace);
    const sentence = `The counts of the account ${account} would be rebuilt: ${rows} rows would be read, at most three times.`;
    return console.log(json ? JSON.stringify({ account, rebuilt: false, rows }) : sentence);
  }
  await withProgress(
    "Rebuilding",
    async () => sum(await Promise.all(owners.map((owner) => planRebuild(owner, pace)))),
    (onRows) => rebuildAccount(owners, { pace, wait, onRows }),
  );
  console.log(
    json ? JSON.stringify({ account, rebuilt: true }) : `The counts of the account ${account} are rebuilt.`,
  );
}

async function rebuildAll(options: RebuildOptions, reading: { pace: Pace; wait: Wait }) {
  const { json, dryRun } = options;
  const outcomes = await forEachAccount(
    reading.pace,
    async (account) => {
      const owners = countedOwners(account);
      if (dryRun) return { rebuilt: false, rows: await countRows(owners, reading.pace) };
      await rebuildAccount(owners, reading);
      return { rebuilt: true };
    },
    ({ rebuilt, rows }) => (rebuilt ? "rebuilt" : `${rows} rows would be read`),
  );
  const done = outcomes.filter(({ result }) => result !== undefined).length;
  const verb = dryRun ? "would be" : "are";
  console.log(
    json
      ? JSON.stringify(outcomes.map(({ result, ...others }) => ({ ...others, ...result })))
      : `The counts of ${done} of ${outcomes.length} accounts ${verb} rebuilt.`,
  );
  const failed = describeFailed(outcomes, (account) =>
    opsCommand(options, `counts rebuild --account ${account}`),
  );
  if (failed !== undefined) throw new UserError(failed);
}

/** Rebuilds the counts of the lists of an account, and then those of their sublists. */
export const rebuildAccount = (owners: readonly CountedOwner[], reading: Partial<Reading>) =>
  Promise.all(
    owners.map(async (owner) => {
      await rebuild(owner, reading);
      await repairSublists(owner, reading);
    }),
  );

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
