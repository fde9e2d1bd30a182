import { metaChannels } from "../../../shared/meta-channels.ts";
import { disconnectSender } from "../channels/channels-command.ts";
import { checkAccount, confirm, onTable, type Tools } from "../command/action.ts";
import { type AccountOptions, command, parseNumber, type TableOptions } from "../command/command.ts";
import { erase } from "../erasure/erase.ts";
import { ItemsToErase } from "../erasure/items-to-erase.ts";
import { countAccounts } from "./account-items.ts";

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
  // Items can be left without their account.
  const { counts } = (await countAccounts(pace)).get(account) ?? {};
  if (!counts) await checkAccount(options, pace);
  const numbers = Object.entries(counts ?? {}).sort();
  const text = `The account ${account} has ${numbers.map(([type, count]) => `${count} ${type}`).join(", ")}.`;
  if (dryRun) return { json: { ...Object.fromEntries(numbers), account }, text };
  if (!yes) {
    console.error(`${text}\n${eventsNote}`);
    await confirm(account, { kind: "account", action: "erase it" });
  }
  for (const channel of metaChannels) await pace.retry(() => disconnectSender(options, channel));
  const keyCache = 1000 * (await findCacheSeconds(options));
  const found = new ItemsToErase({ account }, invalid);
  await erase(found, pace, keyCache);
  const { lead: leads = 0 } = found.counts;
  return {
    json: { account, erased: true, leads, invalid: [...invalid.values()] },
    text: `The account ${account} is erased: ${leads} leads, and all that belonged to them.`,
    failure: invalid.toFailure(),
  };
}
