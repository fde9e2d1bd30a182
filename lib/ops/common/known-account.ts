import { setTimeout } from "node:timers/promises";
import { accountApiKeysPartition, accountPartition, indexes } from "../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { opsCommand, type TableOptions } from "./options.ts";
import { Pace, type Wait } from "./pace.ts";
import { inPartition, queryItems } from "./read-items.ts";

/** The types of items that an account has as long as it exists, besides its keys. */
const lasting = ["lead", "conversation", "limit", "erasedLead", "leadImport"] as const;

/** How long the index of keys may take to list the first key of an account, in milliseconds. */
const indexDelay = 1000;

/**
 * Checks that an account exists: it has a key, a lead, a conversation, or what is left of them.
 *
 * @throws UserError with the commands that list accounts and create one
 */
export async function checkAccount(
  { account, ...options }: TableOptions & { readonly account: string },
  pace = new Pace(),
  wait: Wait = setTimeout,
): Promise<void> {
  if (await isKnown(account, pace)) return;
  await wait(indexDelay);
  if (await isKnown(account, pace)) return;
  throw new UserError(
    `There is no account ${account} in the table ${tableName}. See ${opsCommand(options, "accounts list")}, or create it with ${opsCommand(options, `keys issue --account ${account}`)}.`,
  );
}

async function isKnown(account: string, pace: Pace): Promise<boolean> {
  for (const type of lasting)
    if (await hasAny(inPartition(accountPartition(type, account)), pace)) return true;
  const keys = {
    IndexName: "by-parent",
    KeyConditionExpression: "#parent = :parent",
    ExpressionAttributeNames: { "#parent": indexes["by-parent"] },
    ExpressionAttributeValues: { ":parent": accountApiKeysPartition(account) },
  };
  return hasAny(keys, pace).catch((error: unknown) => {
    // A table that was restored without its indexes.
    if (error instanceof Error && error.name === "ValidationException") return false;
    throw error;
  });
}

async function hasAny(selection: Parameters<typeof queryItems>[0], pace: Pace): Promise<boolean> {
  const { value: items = [] } = await queryItems({ ...selection, Limit: 1 }, pace).next();
  return items.length > 0;
}
