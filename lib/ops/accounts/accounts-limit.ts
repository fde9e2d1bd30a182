import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { accountLimitKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { largestLimit, readAccountLimit } from "../../../shared/rate-limit/rate-limit.ts";
import { type AccountOptions, command, parseNumber } from "../command/command.ts";
import { checkAccount } from "../command/known-account.ts";
import { selectTableByOptions } from "../command/select-table.ts";

/** Gives an account a limit of its own, or, for null, that of its stage again: its keys get it when they are next authorized. */
export async function writeLimit(account: string, requests: number | null): Promise<void> {
  const Key = accountLimitKey(account);
  await (requests === null
    ? table.send(new DeleteCommand({ TableName: tableName, Key }))
    : table.send(new PutCommand({ TableName: tableName, Item: { ...Key, requests } })));
}

/** `accounts set-limit`: a rate limit of an account's own, or that of the stage again. */
export const setLimitCommand = (): Command =>
  command("set-limit", "give an account a rate limit of its own, when its keys are next authorized", {
    writes: true,
  })
    .requiredOption(
      "--requests <number>",
      "how many requests it may make in a window of its stage; `stage` for as many as the stage sets",
      (text) => (text === "stage" ? null : parseLimit(text)),
    )
    .action(setLimit);

const parseLimit = parseNumber(
  1,
  largestLimit,
  `A limit is a whole number from 1 to ${largestLimit}, or \`stage\`.`,
);

/** `accounts show-limit`: which one an account has. */
export const showLimitCommand = (): Command =>
  command("show-limit", "show the rate limit of an account's own").action(showLimit);

async function setLimit(options: AccountOptions & { requests: number | null }): Promise<void> {
  const { account, requests } = options;
  await selectTableByOptions(options);
  await checkAccount(options);
  await writeLimit(account, requests);
  printLimit(options, requests);
}

async function showLimit(options: AccountOptions): Promise<void> {
  await selectTableByOptions(options);
  await checkAccount(options);
  printLimit(options, (await readAccountLimit(options.account)) ?? null);
}

function printLimit({ account, json }: AccountOptions, requests: number | null): void {
  const limit =
    requests === null ? "the rate limit of its stage" : `a limit of ${requests} requests in each window`;
  console.log(json ? JSON.stringify({ account, requests }) : `The account ${account} has ${limit}.`);
}
