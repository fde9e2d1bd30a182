import { type Command, InvalidArgumentError } from "commander";
import { countAccounts } from "../accounts/account-items.ts";
import { describeCounts } from "../accounts/accounts-list.ts";
import { confirm } from "../common/confirm.ts";
import {
  type AccountOptions,
  type PacedOptions,
  selectPacedTable,
  writingCommand,
} from "../common/options.ts";
import type { Wait } from "../common/pace.ts";
import { unitsOption } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { countTableItems } from "../common/read-items.ts";
import { eraseAccount } from "./erase-account.ts";

type EraseOptions = AccountOptions &
  PacedOptions & { readonly yes?: boolean; readonly cacheSeconds?: number };

const eventsNote =
  "Connectors learn of it by the events lead.erased, which cannot be sent again afterwards: check first that the event pipe is RUNNING and that its failure queue is empty (docs/privacy.md).";

/** `accounts erase`: deletes everything of an account. */
export const eraseAccountCommand = (wait: Wait): Command =>
  writingCommand(
    "erase",
    "delete everything of an account, also its API keys; after a failure, run it again to continue",
  )
    .option("--yes", "do not count what would be deleted, nor ask for the account's name")
    .option(
      "--cache-seconds <n>",
      "how long a revoked key works (default: authorizerCacheSeconds of the stage's file)",
      parseSeconds,
    )
    .addOption(unitsOption())
    .addHelpText("after", `\n${eventsNote}`)
    .action((options: EraseOptions) => erase(options, wait));

function parseSeconds(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("Seconds are a whole number from 0 to 9999.");
  return Number(text);
}

/** The longest time for which API Gateway caches a result of the authorizer, in seconds. */
const longestCache = 3600;

/** How long a revoked key may work, in seconds. */
export async function findCacheSeconds({
  cacheSeconds,
  local,
  stage,
}: Pick<EraseOptions, "cacheSeconds" | "local" | "stage">): Promise<number> {
  if (cacheSeconds !== undefined) return cacheSeconds;
  const { readProjectStage } = await import("../../config/stage-settings.ts");
  const name = local ? "dev" : stage;
  const settings = name === undefined ? undefined : readProjectStage(name);
  if (settings) return settings.authorizerCacheSeconds;
  console.error(
    `No stage's file says how long a revoked key works: assuming ${longestCache} seconds. Pass the stage's authorizerCacheSeconds as --cache-seconds to wait no longer than that.`,
  );
  return longestCache;
}

async function erase(options: EraseOptions, wait: Wait): Promise<void> {
  const pace = await selectPacedTable(options, wait);
  const { account, json, dryRun, yes } = options;
  if (dryRun || !yes) {
    const accounts = await withProgress("Reading", countTableItems, (onRows) => countAccounts(pace, onRows));
    const counts = describeCounts(accounts.get(account) ?? {});
    if (dryRun && json) return console.log(JSON.stringify({ account, ...counts }));
    const { leads, conversations, messages, keys, erasedLeads, others } = counts;
    const sentence = `The account ${account} has ${leads} leads, ${conversations} conversations, ${messages} messages, ${keys} keys, ${erasedLeads} erased leads and ${others} other items.`;
    if (dryRun) return console.log(sentence);
    console.error(`${sentence}\n${eventsNote}`);
    await confirm(account, { kind: "account", action: "erase it" });
  }
  const keyCache = 1000 * (await findCacheSeconds(options));
  const leads = await withProgress("Erasing", countTableItems, (onRows) =>
    eraseAccount(account, { pace, wait, keyCache, onRows }),
  );
  console.log(
    json
      ? JSON.stringify({ account, erased: true, leads })
      : `The account ${account} is erased: ${leads} leads, and all that belonged to them.`,
  );
}
