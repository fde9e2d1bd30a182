import { Command } from "commander";
import { command, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { countedOwners } from "../table/counted-trees.ts";
import { verifyCommand } from "./counts-verify.ts";
import { rebuild } from "./rebuild.ts";

/** `counts verify|rebuild`: the counts that page the lists of an account, or of all accounts. */
export const countsCommand = (): Command =>
  new Command("counts")
    .description("verify or rebuild the counts of an account's lists")
    .addCommand(verifyCommand())
    .addCommand(
      command(
        "rebuild",
        "count all rows again; until that is done, long lists may return 503; takes at least a minute",
        { paced: true, writes: true },
      ).action(rebuildCounts),
    );

async function rebuildCounts(options: PacedAccountOptions): Promise<void> {
  const { account, json, dryRun } = options;
  const pace = await selectPacedAccount(options);
  if (!dryRun) await Promise.all(countedOwners(account).map((owner) => rebuild(owner, pace)));
  const sentence = dryRun
    ? `The counts of the account ${account} would be rebuilt: all its rows would be read, at most three times.`
    : `The counts of the account ${account} are rebuilt.`;
  console.log(json ? JSON.stringify({ account, rebuilt: !dryRun }) : sentence);
}
