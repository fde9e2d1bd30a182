import type { Command } from "commander";
import { UserError } from "../../errors.ts";
import { formatColumns } from "../common/columns.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, accountOrAllCommand, opsCommand } from "../common/options.ts";
import { type Pace, unitsOption, type Wait } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { countedOwners, forEachAccount } from "./all-owners.ts";
import { countRows, type Reading } from "./all-rows.ts";
import { verify } from "./verify.ts";

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
  if (account === undefined) return verifyAll(options, pace, wait);
  const { differences } = await withProgress(
    "Verifying",
    () => countRows(countedOwners(account), pace),
    (onRows) => verifyAccount(account, { pace, wait, onRows }),
  );
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are correct.`);
  else console.log(formatColumns(differences.flatMap(toTableRows)));
  if (differences.length === 0) return;
  throw new UserError(
    `The counts of the account ${account} differ in ${differences.length} places: run ${describeRebuild(options, account)}.`,
  );
}

async function verifyAll(options: AccountsOptions, pace: Pace, wait: Wait): Promise<void> {
  const { outcomes, failed } = await forEachAccount("counts verify", options, {
    pace,
    work: (account) => verifyAccount(account, { pace, wait }),
    describe: ({ differences: { length } }) => (length === 0 ? "correct" : `differs in ${length} places`),
  });
  const verified = outcomes.flatMap(({ account, result }) => (result ? { account, ...result } : []));
  const differing = verified.filter(({ differences }) => differences.length > 0);
  if (!options.json) {
    const rows = differing.flatMap(({ account, differences }) =>
      differences.flatMap(toTableRows).map((row) => ({ account, ...row })),
    );
    if (rows.length > 0) console.log(formatColumns(rows));
    const correct = verified.length - differing.length;
    console.log(`The counts of ${correct} of ${outcomes.length} accounts are correct.`);
  }
  const rebuilds = differing.map(({ account }) => describeRebuild(options, account)).join(", ");
  const differ = `The counts of ${differing.length} of ${outcomes.length} accounts differ: run ${rebuilds}.`;
  const sentences = [differing.length > 0 && differ, failed].filter(Boolean);
  if (sentences.length > 0) throw new UserError(sentences.join(" "));
}

async function verifyAccount(account: string, reading: Partial<Reading>) {
  const lists = countedOwners(account).map(async (owner) => {
    const differences = await verify(owner, reading);
    return differences.map((difference) => ({ list: `${owner.list.type}s`, ...difference }));
  });
  return { differences: (await Promise.all(lists)).flat() };
}

type AccountDifference = Awaited<ReturnType<typeof verifyAccount>>["differences"][number];

/** A row of the printed table for each cell that differs. */
const toTableRows = ({ start, end, cells, ...others }: AccountDifference) =>
  cells.map((cell) => ({ ...others, from: start, to: end, ...cell }));

const describeRebuild = (options: AccountsOptions, account: string) =>
  opsCommand(options, `counts rebuild --account ${account}`);
