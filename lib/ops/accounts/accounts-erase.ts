import { accountKey } from "../../../shared/dynamodb/keys.ts";
import { metaChannels } from "../../../shared/meta-channels.ts";
import { disconnectSender } from "../channels/channels-command.ts";
import { checkAccount, confirm, onTable, type Tools } from "../command/action.ts";
import { type AccountOptions, command, parseNumber, type TableOptions } from "../command/command.ts";
import { erase } from "../erasure/erase.ts";
import { ItemsToErase } from "../erasure/items-to-erase.ts";
import { readEach } from "../table/read-items.ts";
import { countAccounts, noItems } from "./account-items.ts";

export type CacheOptions = TableOptions & { readonly cacheSeconds?: number };

export const cacheSecondsOption = [
  "--cache-seconds <n>",
  "how long results of the authorizer are cached (default: authorizerCacheSeconds of the stage's file)",
  parseNumber(0, 9999, "Seconds are a whole number from 0 to 9999."),
] as const;

const eventsNote =
  "Connectors learn of it from lead.erased events, which cannot be sent again afterwards. First check that the event source mapping of publish-events is Enabled and that its failure queue is empty (docs/privacy.md).";

export const eraseAccountCommand = () =>
  command(
    "erase",
    "delete everything of an account, also its API keys; after a failure, run it again to continue",
    // A moved account is frozen, and so is an account whose erasure is continued.
    { paced: true, writes: "always" },
  )
    .option(...cacheSecondsOption)
    .addHelpText("after", `\n${eventsNote}`)
    .action(onTable(eraseAccount));

/** The longest time for which API Gateway caches a result of the authorizer, in seconds. */
const longestCache = 3600;

/** How long a deleted key may still work, and any key may still write to a frozen account, in seconds. */
export async function findCacheSeconds({ cacheSeconds, local, stage }: CacheOptions): Promise<number> {
  if (cacheSeconds !== undefined) return cacheSeconds;
  const { readProjectStage } = await import("../../config/read-stage-file.ts");
  const name = local ? "dev" : stage;
  const settings = name === undefined ? undefined : readProjectStage(name);
  if (settings) return settings.authorizerCacheSeconds;
  console.error(
    `No stage's file says how long results of the authorizer are cached: assuming ${longestCache} seconds. To wait less, pass the stage's authorizerCacheSeconds as --cache-seconds.`,
  );
  return longestCache;
}

async function eraseAccount(options: AccountOptions & CacheOptions, { pace, invalid }: Tools) {
  const { account, dryRun, yes } = options;
  const [exists] = await readEach([accountKey(account)], pace);
  // Items can be left without their account.
  const counts = dryRun || !yes || !exists ? (await countAccounts(pace)).get(account) : undefined;
  if (!exists && !counts) await checkAccount(options, pace);
  if (dryRun || !yes) {
    const { leads, conversations, messages, keys, erasedLeads, others } = counts ?? noItems;
    const text = `The account ${account} has ${leads} leads, ${conversations} conversations, ${messages} messages, ${keys} keys, ${erasedLeads} erased leads and ${others} other items.`;
    if (dryRun) return { json: { account, ...(counts ?? noItems) }, text };
    console.error(`${text}\n${eventsNote}`);
    await confirm(account, { kind: "account", action: "erase it" });
  }
  for (const channel of metaChannels) await pace.retry(() => disconnectSender(options, channel));
  const keyCache = 1000 * (await findCacheSeconds(options));
  const found = new ItemsToErase({ account }, invalid);
  await erase(found, { pace, scan: true }, keyCache);
  const { lead: leads = 0, erasedLead: notes = 0 } = found.counts;
  // This run has noted the erasure of its leads, too. Those before are of an interrupted run, or of `leads erase`.
  const erasedLeads = Math.max(0, notes - leads);
  return {
    json: { account, erased: true, leads, erasedLeads, invalid: [...invalid.values()] },
    text: `The account ${account} is erased: ${leads} leads, ${erasedLeads} erased before, and all that belonged to them.`,
    failure: invalid.toFailure(),
  };
}
