import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { UserError } from "../../errors.ts";
import { countAccounts, hasItems, type ItemCounts } from "../accounts/account-items.ts";
import type { Pace } from "../pace.ts";
import { inPartition, queryItems } from "../query-items.ts";

/** The accounts that the table to restore from has, and those that it lacks. */
export interface Accounts {
  readonly accounts: readonly string[];
  /** The table to restore from has no leads and conversations of them. */
  readonly added: readonly string[];
}

/** Finds the accounts of both tables. It reads all of both. */
export async function findAccounts(from: string, pace: Pace): Promise<Accounts> {
  const accounts = withRows(await countAccounts(pace, undefined, from));
  const known = new Set(accounts);
  return {
    accounts,
    added: withRows(await countAccounts(pace)).filter((account) => !known.has(account)),
  };
}

/** Whether an account may have been erased: the live table has none of its leads, conversations and erased leads. */
export const isGone = async (account: string, pace: Pace): Promise<boolean> =>
  !(await hasItems(account, ["lead", "conversation", "erasedLead"], pace));

const withRows = (accounts: ReadonlyMap<string, ItemCounts>) =>
  [...accounts]
    .filter(([, { lead = 0, conversation = 0 }]) => lead + conversation > 0)
    .map(([account]) => account);

/** The one account. @throws UserError when the table to restore from has nothing of it: all of it would be deleted */
export async function findAccount(account: string, from: string, pace: Pace): Promise<Accounts> {
  for (const type of ["lead", "conversation"] as const) {
    const partition = { ...inPartition(accountPartition(type, account)), TableName: from, Limit: 1 };
    const { value: items = [] } = await queryItems(partition, pace).next();
    if (items.length > 0) return { accounts: [account], added: [] };
  }
  throw new UserError(`The table ${from} has no leads and conversations of the account ${account}.`);
}
