import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import type { CountedOwner } from "../../shared/pages/tree/counted-list.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { UserError } from "../errors.ts";
import { type AccountOptions, accountCommand, writingCommand } from "./account-command.ts";
import { type Reading, totalRows } from "./counts/all-rows.ts";
import { type CountsOptions, selectCounts } from "./counts/counts-options.ts";
import { planRebuild, rebuild } from "./counts/rebuild.ts";
import { repairSublists } from "./counts/repair-sublists.ts";
import { type ListDifference, verify } from "./counts/verify.ts";
import { statusCommand } from "./counts-status-command.ts";
import { type Pace, unitsOption } from "./pace.ts";
import { withProgress } from "./progress.ts";
import type { Wait } from "./retry-while-busy.ts";

type Options = AccountOptions & CountsOptions;

/** `counts status|verify|rebuild`: the counts that page the lists of an account. */
export function countsCommand(wait: Wait = setTimeout): Command {
  const rebuildCommand = writingCommand(
    "rebuild",
    "rebuild the counts while the API stays available, or continue a rebuild that has not ended; takes at least a minute",
  )
    .addOption(unitsOption())
    .action((options: Options) => rebuildCounts(options, wait));
  const verifyCommand = accountCommand(
    "verify",
    "count all rows and compare; exits with 1 if the counts still differ after a minute",
  )
    .addOption(unitsOption())
    .action((options: Options) => verifyCounts(options, wait));
  return new Command("counts")
    .description("show, verify or rebuild the counts of an account's lists")
    .addCommand(statusCommand(wait))
    .addCommand(verifyCommand)
    .addCommand(rebuildCommand);
}

async function rebuildCounts(options: Options, wait: Wait): Promise<void> {
  const pace = await selectCounts(options, wait);
  const { account, json, dryRun } = options;
  const owners = countedOwners(account);
  if (dryRun) {
    const rows = await countRows(owners, pace);
    const sentence = `The counts of the account ${account} would be rebuilt: ${rows} rows would be read, at most three times.`;
    return console.log(json ? JSON.stringify({ account, rebuilt: false, rows }) : sentence);
  }
  await withProgress(
    "Rebuilding",
    async () => sum(await Promise.all(owners.map((owner) => planRebuild(owner, pace)))),
    (onRows) => Promise.all(owners.map((owner) => rebuildAll(owner, { pace, wait, onRows }))),
  );
  console.log(
    json ? JSON.stringify({ account, rebuilt: true }) : `The counts of the account ${account} are rebuilt.`,
  );
}

async function rebuildAll(owner: CountedOwner, reading: Partial<Reading>): Promise<void> {
  await rebuild(owner, reading);
  await repairSublists(owner, reading);
}

async function verifyCounts(options: Options, wait: Wait): Promise<void> {
  const pace = await selectCounts(options, wait);
  const { account, json } = options;
  const owners = countedOwners(account);
  const lists = await withProgress(
    "Verifying",
    () => countRows(owners, pace),
    (onRows) =>
      Promise.all(
        owners.map(async (owner) => {
          const differences = await verify(owner, { pace, wait, onRows });
          return differences.map((difference) => ({ list: `${owner.list.type}s`, ...difference }));
        }),
      ),
  );
  const differences = lists.flat();
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are correct.`);
  else console.table(differences.flatMap(toTableRows));
  if (differences.length === 0) return;
  throw new UserError(
    `The counts of the account ${account} differ in ${differences.length} places: run \`counts rebuild\`.`,
  );
}

const countRows = async (owners: readonly CountedOwner[], pace: Pace) =>
  sum(await Promise.all(owners.map((owner) => totalRows(owner, pace))));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** A row of the printed table for each cell that differs. */
const toTableRows = ({ start, end, cells, ...others }: ListDifference & { readonly list: string }) =>
  cells.map((cell) => ({ ...others, from: start, to: end, ...cell }));
