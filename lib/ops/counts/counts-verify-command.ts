import type { Command } from "commander";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import type { Reading } from "../../../shared/pages/audit/list-rows.ts";
import { repair } from "../../../shared/pages/audit/repair.ts";
import { type Finding, verify } from "../../../shared/pages/audit/verify.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { UserError } from "../../errors.ts";
import { formatColumns } from "../common/columns.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, accountOrAllCommand, opsCommand } from "../common/options.ts";
import { withProgress } from "../common/progress.ts";
import { countedOwners, describeSublist, forEachAccount } from "./all-owners.ts";
import { countRows, toMaintenance } from "./list-reading.ts";

interface VerifyOptions extends AccountsOptions {
  readonly repair?: boolean;
}

/** `counts verify`: compares the counts of an account, or of all accounts, with the rows. */
export const verifyCommand = (wait: Wait): Command =>
  accountOrAllCommand(
    "verify",
    "compare the counts with all rows; exits with 1 if they still differ after a minute",
  )
    .option("--repair", "correct what differs")
    .action((options: VerifyOptions) => verifyCounts(options, wait));

async function verifyCounts(options: VerifyOptions, wait: Wait): Promise<void> {
  const pace = await selectPacedAccounts(options, wait);
  const { account, json } = options;
  if (account === undefined) return verifyAll(options, { pace });
  const { differences } = await withProgress(
    "Verifying",
    () => countRows(countedOwners(account), pace),
    (onRows) => verifyAccount(account, options, { pace, onRows }),
  );
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are correct.`);
  else console.log(formatColumns(differences));
  if (differences.length === 0) return;
  const found = `The counts of the account ${account} differ in ${differences.length} places`;
  if (!options.repair) throw new UserError(`${found}: run ${describeRepair(options, account)}.`);
  console.error(`${found}, which are corrected.`);
}

async function verifyAll(options: VerifyOptions, reading: Reading): Promise<void> {
  const { outcomes, failed } = await forEachAccount("counts verify", options, {
    pace: reading.pace,
    work: (account) => verifyAccount(account, options, reading),
    describe: ({ differences: { length } }) =>
      length === 0 ? "correct" : `${options.repair ? "corrected" : "differs"} in ${length} places`,
  });
  const verified = outcomes.flatMap(({ account, result }) => (result ? { account, ...result } : []));
  const differing = verified.filter(({ differences }) => differences.length > 0);
  if (!options.json) {
    const rows = differing.flatMap(({ account, differences }) =>
      differences.map((difference) => ({ account, ...difference })),
    );
    if (rows.length > 0) console.log(formatColumns(rows));
    const correct = verified.length - differing.length;
    console.log(`The counts of ${correct} of ${outcomes.length} accounts are correct.`);
  }
  const repairs = differing.map(({ account }) => describeRepair(options, account)).join(", ");
  const differ = `The counts of ${differing.length} of ${outcomes.length} accounts differ: run ${repairs}.`;
  const sentences = [differing.length > 0 && !options.repair && differ, failed].filter(Boolean);
  if (sentences.length > 0) throw new UserError(sentences.join(" "));
}

async function verifyAccount(account: string, options: VerifyOptions, reading: Reading) {
  const lists = countedOwners(account).map(async (owner) => {
    const findings = await verify(owner, reading);
    if (options.repair && findings.length > 0 && !(await repair(owner, findings, toMaintenance(reading))))
      throw new UserError("The counts were not corrected, because the table cannot be reached.");
    return findings.flatMap(describe);
  });
  return { differences: (await Promise.all(lists)).flat() };
}

/** What is printed of a finding, in one or several places. */
function describe({ owner, differences, damage }: Finding): Readonly<Record<string, string | null>>[] {
  const list = { list: `${owner.list.type}s`, ...describeSublist(owner) };
  if (damage) return [{ ...list, damage: damage.message }];
  return differences.map(({ sk, counted, actual }) => ({
    ...{ ...list, row: sk, counted: statusName(owner, counted), actual: statusName(owner, actual) },
  }));
}

/** The status that a cell counts; null for a row that is not there. */
const statusName = ({ list }: CountedOwner, cell: number | undefined) =>
  cell === undefined ? null : (list.statuses[cell] ?? "(other)");

const describeRepair = (options: AccountsOptions, account: string) =>
  opsCommand(options, `counts verify --repair --account ${account}`);
