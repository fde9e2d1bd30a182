import { accountKey } from "../../../shared/dynamodb/keys.ts";
import type { AnyPace } from "../../../shared/dynamodb/pace.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { readEach } from "../table/read-items.ts";
import { type AccountOptions, opsCommand } from "./command.ts";

/**
 * Checks that an account exists.
 *
 * A command that reads an item of the account needs the check only when there is no such item.
 *
 * @throws UserError with the commands that list accounts and create one
 */
export async function checkAccount({ account, ...options }: AccountOptions, pace: AnyPace): Promise<void> {
  const [item] = await readEach([accountKey(account)], pace);
  if (item) return;
  throw new UserError(
    `There is no account ${account} in the table ${tableName}. See ${opsCommand(options, "accounts list")}, or create it with ${opsCommand(options, `keys issue --account ${account}`)}.`,
  );
}

/** The error for an item that an account does not have, or for the account that does not exist. */
export async function unknownItem(options: AccountOptions, item: string, pace: AnyPace): Promise<Error> {
  await checkAccount(options, pace);
  return new UserError(`The account ${options.account} has no ${item}.`);
}
