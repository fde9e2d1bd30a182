import type { Command } from "commander";
import { formatColumns } from "../common/columns.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, accountOrAllCommand, opsCommand } from "../common/options.ts";
import { unitsOption, type Wait } from "../common/pace.ts";
import { countedOwners, readAllOwners } from "./all-owners.ts";
import { type ListStatus, readStatus } from "./status.ts";

/** `counts status`: the state of the counts of an account, or of all accounts. */
export const statusCommand = (wait: Wait): Command =>
  accountOrAllCommand(
    "status",
    "show what is counted, what waits to be counted, and rebuilds that have not ended",
  )
    .addOption(unitsOption())
    .action((options: AccountsOptions) => showStatus(options, wait));

async function showStatus(options: AccountsOptions, wait: Wait): Promise<void> {
  const { account, json } = options;
  const pace = await selectPacedAccounts(options, wait);
  const owners = account === undefined ? await readAllOwners(pace) : countedOwners(account);
  const lists: ListStatus[] = [];
  for (const owner of owners) lists.push(await readStatus(owner, pace));
  // The sublists of all accounts would be too many to print.
  const printed = lists.map(({ sublists, ...list }) => ({
    ...list,
    sublistTrees: sublists.length,
    ...(account !== undefined && { sublists }),
  }));
  if (json) return console.log(JSON.stringify(printed));
  console.log(formatColumns(lists.map(toTableRow)));
  for (const list of lists) if (list.rebuild) console.log(describeRebuild(options, list, list.rebuild));
  if (account === undefined) return;
  for (const list of lists) printSublists(list);
}

/** The most sublists that are printed. */
const mostSublists = 20;

function printSublists({ list, sublists }: ListStatus): void {
  if (sublists.length > 0)
    console.log(formatColumns(sublists.slice(0, mostSublists).map((sublist) => ({ ...sublist }))));
  const more = sublists.length - mostSublists;
  if (more > 0) console.log(`${more} more sublists of the ${list} have counts of their own: see --json.`);
}

/** A row of the printed table. */
function toTableRow({ sublists, tail, longerTail, oldestTailSeconds, full, rebuild, ...others }: ListStatus) {
  const { account, list, counted, levels, generation, version, pending } = others;
  return {
    ...{ account, list, counted },
    tail: longerTail ? `more than ${tail}` : tail,
    "oldest in tail": oldestTailSeconds === undefined ? "" : describeDuration(oldestTailSeconds),
    ...{ levels, generation, version, pending },
    "full dictionaries": full.join(", "),
    rebuilding: rebuild ? `${rebuild.percent} %` : "",
    sublists: sublists.length,
  };
}

const describeRebuild = (
  options: AccountsOptions,
  { account, list }: ListStatus,
  { percent, secondsSinceProgress }: NonNullable<ListStatus["rebuild"]>,
) =>
  `The ${list} of the account ${account} are being rebuilt: ${percent} % of the rows, last progress ${
    secondsSinceProgress === undefined
      ? "at an unknown time"
      : `${describeDuration(secondsSinceProgress)} ago`
  }. If no rebuild is running, run ${opsCommand(options, `counts rebuild --account ${account}`)} to continue.`;

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A time in seconds in its largest unit, such as "3 hours". */
function describeDuration(seconds: number): string {
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? ["second", 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
