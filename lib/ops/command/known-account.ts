import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { type AnyPace, unpaced } from "../../../shared/dynamodb/pace.ts";
import { inPartition } from "../../../shared/dynamodb/read-pages.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import { hasAny, ofParent } from "../table/read-items.ts";
import { type AccountOptions, opsCommand } from "./command.ts";

/** The types of items that an account has as long as it exists, besides its keys. */
const lastingTypes = ["lead", "conversation", "limit", "frozen", "erasedLead", "leadImport"] as const;

/** How long the index of keys may take to list the first key of an account, in milliseconds. */
const indexDelay = 1000;

/**
 * Checks that an account exists: it has a key, a lead, a conversation, or what is left of them.
 *
 * A command that reads an item of the account needs the check only when there is no such item.
 *
 * @param pace of a command with one, whose client makes no further attempts
 * @throws UserError with the commands that list accounts and create one
 */
export async function checkAccount({ account, ...options }: AccountOptions, pace = unpaced): Promise<void> {
  if (await isKnown(account, pace)) return;
  await pace.wait(indexDelay);
  if (await isKnown(account, pace)) return;
  throw new UserError(
    `There is no account ${account} in the table ${tableName}. See ${opsCommand(options, "accounts list")}, or create it with ${opsCommand(options, `keys issue --account ${account}`)}.`,
  );
}

/** The error for an item that an account does not have, or for the account that does not exist. */
export async function unknownItem(options: AccountOptions, item: string, pace = unpaced): Promise<Error> {
  await checkAccount(options, pace);
  return new UserError(`The account ${options.account} has no ${item}.`);
}

async function isKnown(account: string, pace: AnyPace): Promise<boolean> {
  for (const type of lastingTypes)
    if (await hasAny(inPartition(accountPartition(type, account)), pace)) return true;
  return hasAny(ofParent(accountPartition("apiKey", account)), pace).catch((error: unknown) => {
    // A table that was restored without its indexes.
    if (error instanceof Error && error.name === "ValidationException") return false;
    throw error;
  });
}
