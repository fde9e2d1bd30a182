import { inParallel } from "../../../shared/pages/maintenance/in-parallel.ts";
import { errorMessage } from "../../errors.ts";
import { toUserError } from "../common/aws-errors.ts";
import type { Pace } from "../common/pace.ts";
import { readAllOwners } from "./all-owners.ts";

/** Accounts with more rows than this are worked on one at a time: the work may keep all rows of an account in memory. */
const manyRows = 100_000;

/** What became of an account: the result of the work, or why it failed. */
type Outcome<T> = { readonly account: string } & (
  | { readonly result: T; readonly failure?: never }
  | { readonly result?: never; readonly failure: string }
);

/**
 * Does the same work for every account of the table, a few at once, the largest one by one, and goes on after one fails.
 * Each account that is done is a line on stderr.
 *
 * @param describe what to say of a result
 * @returns the outcomes, sorted by account
 */
export async function forEachAccount<T>(
  pace: Pace,
  work: (account: string) => Promise<T>,
  describe: (result: T) => string,
): Promise<Outcome<T>[]> {
  const rows = new Map<string, number>();
  for (const owner of await readAllOwners(pace))
    rows.set(owner.account, (rows.get(owner.account) ?? 0) + owner.rows);
  const accounts = [...rows.keys()].sort();
  const outcomes = new Map<string, Outcome<T>>();
  const workOn = async (account: string) => {
    const outcome = await attempt(account, work);
    outcomes.set(account, outcome);
    const text = outcome.failure ?? describe(outcome.result);
    console.error(`${outcomes.size} of ${accounts.length}: ${account}: ${text}`);
  };
  await bySize(rows, workOn);
  return accounts.flatMap((account) => outcomes.get(account) ?? []);
}

/** Works on accounts, a few at once, the largest one by one. @param rows the number of rows of each account */
export async function bySize(
  rows: ReadonlyMap<string, number>,
  work: (account: string) => Promise<void>,
): Promise<void> {
  const accounts = [...rows.keys()].sort();
  const isLarge = (account: string) => (rows.get(account) ?? 0) > manyRows;
  await inParallel(
    accounts.filter((account) => !isLarge(account)),
    work,
  );
  for (const account of accounts.filter(isLarge)) await work(account);
}

async function attempt<T>(account: string, work: (account: string) => Promise<T>): Promise<Outcome<T>> {
  try {
    return { account, result: await work(account) };
  } catch (error) {
    return { account, failure: errorMessage(await toUserError(error)) };
  }
}

/**
 * A sentence about the accounts that failed; undefined if none did.
 *
 * @param command the command for one account, as Markdown
 */
export function describeFailed(
  outcomes: readonly Outcome<unknown>[],
  command: (account: string) => string,
): string | undefined {
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  if (failed.length === 0) return undefined;
  const commands = failed.map(({ account }) => command(account)).join(", ");
  return `${failed.length} of ${outcomes.length} accounts failed: run ${commands}.`;
}
