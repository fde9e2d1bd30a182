import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { readFrozenAt } from "../../../shared/domain/frozen-accounts.ts";
import { frozenKey } from "../../../shared/dynamodb/keys.ts";
import { unpaced } from "../../../shared/dynamodb/pace.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type AccountOptions, command } from "../command/command.ts";
import { checkAccount } from "../command/known-account.ts";
import { selectTableByOptions } from "../command/select-table.ts";
import { cacheSecondsOption, findCacheSeconds } from "./accounts-erase.ts";

/** `accounts freeze`: stops all writes for an account, so that a copy has everything. */
export const freezeCommand = (): Command =>
  command("freeze", "stop all writes for an account, and wait until the last one has ended", {
    writes: "always",
  })
    .addOption(cacheSecondsOption())
    .action(freeze);

/** `accounts unfreeze`: lets them go on. */
export const unfreezeCommand = (): Command =>
  command("unfreeze", "let an account take writes again, when its keys are next authorized", {
    writes: "always",
  }).action(unfreeze);

/**
 * For how long a function may write after it has read that the account is not frozen, in seconds: deliver-message for 30. A
 * request ends within 18 seconds after the read of the authorizer, and a webhook reads for each of its messages.
 */
const longestRun = 35;

async function freeze(options: AccountOptions & { readonly cacheSeconds?: number }): Promise<void> {
  await selectTableByOptions(options);
  await checkAccount(options);
  const { account, json } = options;
  const seconds = (await findCacheSeconds(options)) + longestRun;
  const frozenAt = (await readFrozenAt(account)) ?? new Date().toISOString();
  await table.send(new PutCommand({ TableName: tableName, Item: { ...frozenKey(account), frozenAt } }));
  console.error(
    `The account ${account} is frozen, but what is running may still write: waiting for ${seconds} s.`,
  );
  await unpaced.wait(1000 * seconds);
  const sentence = `The account ${account} is frozen: nothing writes for it any more.`;
  console.log(json ? JSON.stringify({ account, frozenAt }) : sentence);
}

async function unfreeze(options: AccountOptions): Promise<void> {
  await selectTableByOptions(options);
  await checkAccount(options);
  const { account, json } = options;
  await table.send(new DeleteCommand({ TableName: tableName, Key: frozenKey(account) }));
  const sentence = `The account ${account} takes writes again, with each key when it is next authorized.`;
  console.log(json ? JSON.stringify({ account, frozenAt: null }) : sentence);
}
