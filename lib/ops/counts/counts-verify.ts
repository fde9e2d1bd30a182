import type { Command } from "commander";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Finding } from "../../../shared/pages/audit/compare-tree.ts";
import { repair } from "../../../shared/pages/audit/repair.ts";
import { verify } from "../../../shared/pages/audit/verify.ts";
import { inParallel } from "../../../shared/pages/maintain/in-parallel.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { errorMessage, UserError } from "../../errors.ts";
import { command, leftOutCodes, opsCommand } from "../command/command.ts";
import { type AccountsOptions, selectPacedAccounts } from "../command/known-account.ts";
import { toUserError } from "../output/aws-errors.ts";
import { formatColumns } from "../output/columns.ts";
import { countedOwners, nameSublist, readAllOwners } from "../table/counted-owners.ts";
import { Unreadable } from "../table/unreadable.ts";
import { toMaintenance } from "./rebuild.ts";

interface VerifyOptions extends AccountsOptions {
  readonly repair?: boolean;
}

/** `counts verify`: compares the counts of an account, or of all accounts, with the rows. */
export const verifyCommand = (): Command =>
  command("verify", "compare the counts with all rows; exits with 1 if they still differ after a minute", {
    account: "or all",
    paced: true,
  })
    .option("--repair", "correct what differs")
    .addHelpText("after", leftOutCodes)
    .action(verifyCounts);

async function verifyCounts(options: VerifyOptions): Promise<void> {
  const pace = await selectPacedAccounts(options.repair ? { ...options, writes: true } : options);
  const { account, json } = options;
  if (account === undefined) return verifyAll(options, pace);
  const unreadable = new Unreadable();
  const differences = await verifyAccount(account, options, pace, unreadable);
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length > 0) console.log(formatColumns(differences));
  else if (unreadable.size === 0) console.log(`The counts of the account ${account} are correct.`);
  const found = `The counts of the account ${account} differ in ${differences.length} places`;
  if (differences.length > 0 && options.repair) console.error(`${found}, which are corrected.`);
  unreadable.print();
  if (differences.length > 0 && !options.repair)
    throw new UserError(
      `${found}: run ${opsCommand(options, `counts verify --repair --account ${account}`)}.`,
    );
}

/** Verifies all accounts, some at once, and goes on after one fails. Each that is done is a line on stderr. */
async function verifyAll(options: VerifyOptions, pace: Pace): Promise<void> {
  const unreadable = new Unreadable();
  const owners = await readAllOwners(pace, unreadable.note);
  const accounts = [...new Set(owners.map(({ account }) => account))];
  const found = new Map<string, readonly Place[]>();
  const failures = new Map<string, string>();
  await inParallel(accounts, async (account) => {
    let text: string;
    try {
      const places = await verifyAccount(account, options, pace, unreadable);
      found.set(account, places);
      const verb = options.repair ? "corrected" : "differs";
      text = places.length === 0 ? "correct" : `${verb} in ${places.length} places`;
    } catch (error) {
      text = errorMessage(await toUserError(error));
      failures.set(account, text);
    }
    console.error(`${found.size + failures.size} of ${accounts.length}: ${account}: ${text}`);
  });
  const outcomes = accounts.map((account) => ({
    account,
    failure: failures.get(account),
    differences: found.get(account),
  }));
  const places = outcomes.flatMap(({ account, differences = [] }) =>
    differences.map((place) => ({ account, ...place })),
  );
  const differing = [...new Set(places.map(({ account }) => account))];
  if (options.json) console.log(JSON.stringify(outcomes));
  else {
    if (places.length > 0) console.log(formatColumns(places));
    const correct = found.size - differing.length;
    console.log(`The counts of ${correct} of ${accounts.length} accounts are correct.`);
  }
  const failed = accounts.filter((account) => failures.has(account));
  const advise = (some: readonly string[], verb: string, command: string) =>
    some.length > 0 &&
    `${verb}: run ${some.map((account) => opsCommand(options, `${command} --account ${account}`)).join(", ")}.`;
  const differ = `The counts of ${differing.length} of ${accounts.length} accounts differ`;
  const sentences = [
    !options.repair && advise(differing, differ, "counts verify --repair"),
    advise(failed, `${failed.length} of ${accounts.length} accounts failed`, "counts verify"),
  ].filter(Boolean);
  unreadable.print();
  if (sentences.length > 0) throw new UserError(sentences.join(" "));
}

/** Where counts differ, as it is printed. */
type Place = Readonly<Record<string, string | null>>;

/** @param unreadable gets the records of sublists that no maintainer writes */
async function verifyAccount(
  account: string,
  options: VerifyOptions,
  pace: Pace,
  { noteMalformed: onMalformed }: Unreadable,
): Promise<readonly Place[]> {
  const lists = countedOwners(account).map(async (owner) => {
    const findings = await verify(owner, { pace, onMalformed });
    if (options.repair && findings.length > 0) await repair(owner, findings, toMaintenance(pace));
    return findings.flatMap(toPlaces);
  });
  return (await Promise.all(lists)).flat();
}

/** What is printed of a finding, in one or several places. */
function toPlaces({ owner, differences, damage }: Finding): Place[] {
  const list = { list: `${owner.list.type}s`, ...nameSublist(owner) };
  if (damage) return [{ ...list, damage: damage.message }];
  return differences.map(({ sk, counted, actual }) => ({
    ...{ ...list, row: sk, counted: statusName(owner, counted), actual: statusName(owner, actual) },
  }));
}

/** The status that a cell counts; null for a row that is not there. */
const statusName = ({ list }: CountedOwner, cell: number | undefined) =>
  cell === undefined ? null : (list.statuses[cell] ?? "(other)");
