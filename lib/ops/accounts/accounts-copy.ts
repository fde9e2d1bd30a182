import { Option } from "commander";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { confirm, onTable, type Printed, type Tools } from "../command/action.ts";
import { type AccountOptions, command, parseAccountId, parseTable } from "../command/command.ts";
import { type Storing, storeRows } from "../table/store-rows.ts";
import { copyAccount } from "./copy-account.ts";
import { copyChannels, copyScanned } from "./copy-clients.ts";
import { copyConversations } from "./copy-conversation.ts";
import { openSource } from "./source-table.ts";

interface CopyOptions extends AccountOptions {
  readonly fromTable: string;
  readonly fromRegion?: string;
  readonly toAccount?: string;
  readonly replace?: boolean;
  readonly keys?: boolean;
}

export const copyAccountCommand = () =>
  command(
    "copy",
    "copy what another table has of an account and this one lacks; after a failure, run it again to continue",
    { paced: true, writes: true },
  )
    .requiredOption(
      "--from-table <name>",
      "the table to copy from, or its ARN; it needs no indexes",
      parseTable,
    )
    .addOption(
      new Option("--from-region <region>", "its region (default: that of this table)").conflicts("local"),
    )
    .option("--to-account <id>", "the name of the account in this table (default: the same)", parseAccountId)
    .option(
      "--replace",
      "also give existing leads and conversations the fields that they have in the other table",
    )
    .option(
      "--keys",
      "also copy API keys, their later revocations, and connected channels with their tokens: both work here, too",
    )
    .action(({ account: from, toAccount: account = from, ...options }: CopyOptions) =>
      onTable(copyFrom)({ ...options, from, account }),
    );

async function copyFrom(options: CopyOptions & { from: string }, { pace, invalid }: Tools): Promise<Printed> {
  const { from, account, fromTable, fromRegion, dryRun, replace = false, keys = false, yes } = options;
  if (keys && account !== from)
    throw new UserError(
      "API keys work only for an account of the same name: leave out --keys or --to-account.",
    );
  const region = await table.config.region();
  if (account === from && fromTable === tableName && (fromRegion ?? region) === region)
    throw new UserError("The account would be copied onto itself: name another table or another account.");
  const source = await openSource(from, fromTable, fromRegion, pace);
  const kind = `account that is written (${account})`;
  if (replace && !dryRun && !yes) await confirm(account, { kind, action: "replace what differs" });
  const counts = { stored: 0, present: 0, replaced: 0, erased: 0, left: 0 };
  const countStored = () => counts.stored + counts.present + counts.replaced;
  const store = async (storing: Storing) => {
    const sets = { erased: new Set<string>(), repeated: new Set<string>(), wouldExist: new Set<string>() };
    const copying = { ...storing, replace, source, invalid, counts, ...sets };
    await copyAccount(copying);
    // Before conversations: idempotency records show which messages are already here under other ids.
    await copyScanned(copying, keys);
    await copyConversations(copying);
    if (keys) await copyChannels(copying, options);
  };
  await storeRows({ ...options, exists: false }, pace, countStored, store);
  if (Object.values(counts).every((number) => number === 0) && invalid.size === 0)
    throw new UserError(`The table ${fromTable} has nothing of the account ${from}.`);
  const { stored, replaced, present, erased } = counts;
  const verb = dryRun ? "would be " : "";
  return {
    json: { account, from: fromTable, fromAccount: from, ...counts, invalid: [...invalid.values()] },
    text: `From ${from} in ${fromTable} to ${account} in ${tableName}: ${stored} items ${verb}copied, ${replaced} ${verb}replaced, ${present} already there, ${erased} of erased leads, ${invalid.size} left out.`,
  };
}
