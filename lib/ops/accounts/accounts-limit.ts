import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { largestLimit, readAccountLimit } from "../../../shared/domain/rate-limit.ts";
import { accountLimitKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { checkAccount } from "../command/known-account.ts";
import {
  type AccountOptions,
  accountCommand,
  selectTableByOptions,
  writingCommand,
} from "../command/command.ts";
import { wholeNumber } from "../command/whole-number.ts";

/** An account's own limit; `requests` is null if it has the limit of its stage. */
export interface AccountLimit {
  readonly account: string;
  readonly requests: number | null;
}

/** Reads how many requests an account may make in a window, if it has a limit of its own. */
export async function readLimit(account: string): Promise<AccountLimit> {
  return { account, requests: (await readAccountLimit(account)) ?? null };
}

/** Gives an account a limit of its own, or that of its stage again: its keys get it when they are next authorized. */
export async function writeLimit({ account, requests }: AccountLimit): Promise<void> {
  const Key = accountLimitKey(account);
  await (requests === null
    ? table.send(new DeleteCommand({ TableName: tableName, Key }))
    : table.send(new PutCommand({ TableName: tableName, Item: { ...Key, requests } })));
}

/** `accounts set-limit`: a rate limit of an account's own. */
export const setLimitCommand = (): Command =>
  writingCommand("set-limit", "give an account a rate limit of its own, when its keys are next authorized")
    .requiredOption(
      "--requests <number>",
      "how many requests it may make in a window of its stage",
      wholeNumber(1, largestLimit, `A limit is a whole number from 1 to ${largestLimit}.`),
    )
    .action(({ requests, ...options }: AccountOptions & { requests: number }) => change(options, requests));

/** `accounts unset-limit`: the rate limit of the stage. */
export const unsetLimitCommand = (): Command =>
  writingCommand(
    "unset-limit",
    "give an account the rate limit of its stage again, when its keys are next authorized",
  ).action((options: AccountOptions) => change(options, null));

/** `accounts show-limit`: which one an account has. */
export const showLimitCommand = (): Command =>
  accountCommand("show-limit", "show the rate limit of an account's own").action(
    async (options: AccountOptions) => {
      await selectTableByOptions(options);
      await checkAccount(options);
      report(options, await readLimit(options.account), "has");
    },
  );

async function change(options: AccountOptions, requests: number | null): Promise<void> {
  await selectTableByOptions(options);
  await checkAccount(options);
  const limit = { account: options.account, requests };
  if (!options.dryRun) await writeLimit(limit);
  report(options, limit, options.dryRun ? "would have" : "has");
}

function report({ json }: AccountOptions, limit: AccountLimit, verb: string): void {
  const { account, requests } = limit;
  const what =
    requests === null ? "the rate limit of its stage" : `a limit of ${requests} requests in each window`;
  console.log(json ? JSON.stringify(limit) : `The account ${account} ${verb} ${what}.`);
}
