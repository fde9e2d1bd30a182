import type { Command } from "commander";
import { UserError } from "../../errors.ts";
import { formatColumns } from "../common/columns.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, accountOrAllCommand, opsCommand } from "../common/options.ts";
import { unitsOption, type Wait } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { countedOwners } from "./all-owners.ts";
import { countRows, type Reading } from "./all-rows.ts";
import { describeFailed, forEachAccount } from "./each-account.ts";
import { type ListDifference, verify } from "./verify/verify.ts";

type AccountDifference = ListDifference & { readonly list: string };

/** `counts verify`: compares the counts of an account, or of all accounts, with the rows. */
export const verifyCommand = (wait: Wait): Command =>
  accountOrAllCommand(
    "verify",
    "count all rows and compare; exits with 1 if the counts still differ after a minute",
  )
    .addOption(unitsOption())
    .action((options: AccountsOptions) => verifyCounts(options, wait));

async function verifyCounts(options: AccountsOptions, wait: Wait): Promise<void> {
  const pace = await selectPacedAccounts(options, wait);
  const { account, json } = options;
  if (account === undefined) return verifyAll(options, { pace, wait });
  const differences = await withProgress(
    "Verifying",
    () => countRows(countedOwners(account), pace),
    (onRows) => verifyAccount(account, { pace, wait, onRows }),
  );
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are correct.`);
  else console.log(formatColumns(differences.flatMap(toTableRows)));
  if (differences.length === 0) return;
  throw new UserError(
    `The counts of the account ${account} differ in ${differences.length} places: run ${opsCommand(options, `counts rebuild --account ${account}`)}.`,
  );
}

async function verifyAll(options: AccountsOptions, reading: Pick<Reading, "pace" | "wait">): Promise<void> {
  const { json } = options;
  const outcomes = await forEachAccount(
    reading.pace,
    (account) => verifyAccount(account, reading),
    ({ length }) => (length === 0 ? "correct" : `differs in ${length} places`),
  );
  const differing = outcomes.filter(({ result = [] }) => result.length > 0);
  if (json)
    console.log(
      JSON.stringify(outcomes.map(({ result, ...others }) => ({ ...others, differences: result }))),
    );
  else {
    const correct = outcomes.filter(({ result }) => result?.length === 0).length;
    const rows = differing.flatMap(({ account, result = [] }) =>
      result.flatMap(toTableRows).map((row) => ({ account, ...row })),
    );
    if (rows.length > 0) console.log(formatColumns(rows));
    console.log(`The counts of ${correct} of ${outcomes.length} accounts are correct.`);
  }
  const rebuilds = differing.map(({ account }) => opsCommand(options, `counts rebuild --account ${account}`));
  const sentences = [
    differing.length > 0 &&
      `The counts of ${differing.length} of ${outcomes.length} accounts differ: run ${rebuilds.join(", ")}.`,
    describeFailed(outcomes, (account) => opsCommand(options, `counts verify --account ${account}`)),
  ].filter(Boolean);
  if (sentences.length > 0) throw new UserError(sentences.join(" "));
}

async function verifyAccount(account: string, reading: Partial<Reading>): Promise<AccountDifference[]> {
  const lists = countedOwners(account).map(async (owner) => {
    const differences = await verify(owner, reading);
    return differences.map((difference) => ({ list: `${owner.list.type}s`, ...difference }));
  });
  return (await Promise.all(lists)).flat();
}

/** A row of the printed table for each cell that differs. */
const toTableRows = ({ start, end, cells, ...others }: AccountDifference) =>
  cells.map((cell) => ({ ...others, from: start, to: end, ...cell }));
