import { type Command, InvalidArgumentError } from "commander";
import { type AccountOptions, writingCommand } from "../account-command.ts";
import { type CountsOptions, selectCounts } from "../counts/counts-options.ts";
import { unitsOption } from "../pace.ts";
import { withProgress } from "../progress.ts";
import type { Wait } from "../retry-while-busy.ts";
import { countTableItems } from "../scan-table.ts";
import { countAccounts } from "./account-items.ts";
import { describeCounts } from "./accounts-list.ts";
import { confirmAccount } from "./confirm-account.ts";
import { eraseAccount } from "./erase-account.ts";

type EraseOptions = AccountOptions &
  CountsOptions & { readonly yes?: boolean; readonly cacheSeconds: number };

/** `accounts erase`: deletes everything of an account. */
export const eraseAccountCommand = (wait: Wait): Command =>
  writingCommand(
    "erase",
    "delete everything of an account, also its API keys; after a failure, run it again to continue",
  )
    .option("--yes", "do not count what would be deleted, nor ask for the account's name")
    .option(
      "--cache-seconds <n>",
      "the stage's authorizerCacheSeconds: how long a revoked key works",
      parseSeconds,
      60,
    )
    .addOption(unitsOption())
    .action((options: EraseOptions) => erase(options, wait));

function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("Seconds are a whole number from 0 to 9999.");
  return Number(text);
}

async function erase(options: EraseOptions, wait: Wait): Promise<void> {
  const pace = await selectCounts(options, wait);
  const { account, cacheSeconds, json, dryRun, yes } = options;
  if (dryRun || !yes) {
    const accounts = await withProgress("Reading", countTableItems, (onRows) => countAccounts(pace, onRows));
    const counts = describeCounts(accounts.get(account) ?? {});
    if (dryRun && json) return console.log(JSON.stringify({ account, ...counts }));
    const { leads, conversations, messages, keys, erasedLeads, others } = counts;
    const sentence = `The account ${account} has ${leads} leads, ${conversations} conversations, ${messages} messages, ${keys} keys, ${erasedLeads} erased leads and ${others} other items.`;
    if (dryRun) return console.log(sentence);
    console.error(sentence);
    await confirmAccount(account);
  }
  const keyCache = 1000 * cacheSeconds;
  const leads = await withProgress("Erasing", countTableItems, (onRows) =>
    eraseAccount(account, { pace, wait, keyCache, onRows }),
  );
  console.log(
    json
      ? JSON.stringify({ account, erased: true, leads })
      : `The account ${account} is erased: ${leads} leads, and all that belonged to them.`,
  );
}
