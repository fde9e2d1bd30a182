import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { inParallel } from "../../../shared/pages/maintain/in-parallel.ts";
import {
  type CountedList,
  type CountedOwner,
  countedLists,
} from "../../../shared/pages/tree/counted-list.ts";
import { errorMessage } from "../../errors.ts";
import { toUserError } from "../common/aws-errors.ts";
import { type AccountsOptions, opsCommand } from "../common/options.ts";
import { scanTable, withoutExpiry } from "../common/read-items.ts";

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** What a tree counts: the source or channel of a sublist; nothing for a whole list. */
export const describeSublist = ({
  list,
  origin,
}: CountedOwner): Readonly<Partial<Record<CountedList["attribute"], string>>> =>
  origin === undefined ? {} : { [list.attribute]: decodeURIComponent(origin.split("#").at(-1) ?? "") };

/** Reads the whole table. @returns the lists with rows or with a tree, by account */
export async function readAllOwners(pace: Pace): Promise<CountedOwner[]> {
  const owners = new Map<string, CountedOwner>();
  const onItems = (items: readonly Item[]) => {
    for (const { pk } of items) {
      const owner = findOwner(String(pk));
      if (owner) owners.set(`${owner.account}#${owner.list.type}`, owner);
    }
  };
  await scanTable({ ProjectionExpression: "pk", ...withoutExpiry }, { pace, onItems });
  return [...owners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, owner]) => owner);
}

/** The list of a partition with rows or with nodes of a tree. */
function findOwner(pk: string): CountedOwner | undefined {
  const { itemType, account = "", others = [] } = readPartition(pk) ?? {};
  const [counted, ...rest] = itemType === itemTypes.count ? others : [itemType, ...others];
  const list = Object.values(countedLists).find(({ type }) => itemTypes[type] === counted);
  return list && rest.length === 0 ? { account, list } : undefined;
}

/**
 * Does the work of a command for every account of the table, a few at once, and goes on after one fails. Each account that is
 * done is a line on stderr; `--json` prints an array with the outcome of every account.
 *
 * @param describe what to say of a result
 * @returns the outcomes, sorted by account, and a sentence about the accounts that failed, if any did
 */
export async function forEachAccount<T extends object>(
  command: string,
  options: AccountsOptions,
  { pace, work, describe }: ForEachAccount<T>,
) {
  const accounts = [...new Set((await readAllOwners(pace)).map(({ account }) => account))];
  const results = new Map<string, T>();
  const failures = new Map<string, string>();
  await inParallel(accounts, async (account) => {
    let text: string;
    try {
      const result = await work(account);
      results.set(account, result);
      text = describe(result);
    } catch (error) {
      text = errorMessage(await toUserError(error));
      failures.set(account, text);
    }
    console.error(`${results.size + failures.size} of ${accounts.length}: ${account}: ${text}`);
  });
  const outcomes = accounts.map((account) => ({
    account,
    failure: failures.get(account),
    result: results.get(account),
  }));
  if (options.json)
    console.log(JSON.stringify(outcomes.map(({ result, ...others }) => ({ ...others, ...result }))));
  const failed = accounts.filter((account) => failures.has(account));
  const commands = failed.map((account) => opsCommand(options, `${command} --account ${account}`));
  const sentence = `${failed.length} of ${accounts.length} accounts failed: run ${commands.join(", ")}.`;
  return { outcomes, failed: failed.length > 0 ? sentence : undefined };
}

interface ForEachAccount<T> {
  readonly pace: Pace;
  readonly work: (account: string) => Promise<T>;
  readonly describe: (result: T) => string;
}
