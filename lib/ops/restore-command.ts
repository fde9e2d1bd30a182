import { setTimeout } from "node:timers/promises";
import { ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { writingAccountOrAllCommand } from "./account-command.ts";
import { confirmName } from "./accounts/confirm-account.ts";
import { toPartialFailure } from "./aws-errors.ts";
import { countedOwners } from "./counts/all-owners.ts";
import { countRows } from "./counts/all-rows.ts";
import { type AccountsOptions, checkAccounts, selectCounts } from "./counts/counts-options.ts";
import { bySize } from "./counts/each-account.ts";
import { rebuildAccount } from "./counts-rebuild-command.ts";
import { parseTime } from "./events/republish-options.ts";
import { unitsOption } from "./pace.ts";
import { withProgress } from "./progress.ts";
import { checkBackupTable } from "./restore/backup-table.ts";
import { type Accounts, findAccount, findAccounts, isGone } from "./restore/find-accounts.ts";
import { findDiffering, type Outcome, toJson, toLines } from "./restore/report.ts";
import { type ListedChange, type Restoring, restoreAccount } from "./restore/restore-account.ts";
import type { Wait } from "./retry-while-busy.ts";
import { tableTime } from "./table-clock.ts";

interface RestoreOptions extends AccountsOptions {
  readonly fromTable: string;
  /** In milliseconds since the epoch. */
  readonly at?: number;
  readonly deleteNewer?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** How long after the time in its id an item may still have been written, in milliseconds, with time to spare. */
const latestWrite = 60_000;

/** `restore`: makes the data of accounts that of a table which was restored beside the live one. */
export const restoreCommand = (wait: Wait = setTimeout): Command =>
  writingAccountOrAllCommand(
    "restore",
    "make leads, conversations and messages those of a table that was restored beside this one; after a failure, run it again to continue",
  )
    .requiredOption("--from-table <name>", "the table to restore from")
    .option(
      "--at <time>",
      "of which time its data is, such as 2026-01-31T09:30:00Z (default: that of its point in time or backup)",
      parseTime,
    )
    .option("--delete-newer", "also delete what was created since then; by default, it stays")
    .option("--yes", "do not list what would change, nor ask")
    .addOption(unitsOption())
    .action((options: RestoreOptions) => restore(options, wait));

/** A restoration, with how to read and write. */
interface Work extends Omit<Restoring, "dryRun" | "onRows" | "onChange">, Accounts {
  /** Of which time the data is, ISO 8601 UTC. */
  readonly at: string;
  /** Whether accounts that may have been erased are left alone. */
  readonly leavesGone: boolean;
}

async function restore(options: RestoreOptions, wait: Wait): Promise<void> {
  checkAccounts(options);
  const { account, fromTable: from, deleteNewer, dryRun, yes, json } = options;
  const pace = await selectCounts(options, wait);
  const at = await checkBackupTable(from, options.at, pace);
  const keptFrom = deleteNewer ? tableTime() : at - latestWrite;
  const found =
    account === undefined ? await findAccounts(from, pace) : await findAccount(account, from, pace);
  const leavesGone = account === undefined;
  const work = { ...found, leavesGone, from, keptFrom, at: new Date(at).toISOString(), pace, wait };
  if (dryRun && json) return listChanges(work);
  if (dryRun || !yes) {
    const planned = await restoreAccounts(work, true);
    const lines = toLines(planned, work, "planned").join("\n");
    if (dryRun) return console.log(lines);
    if (findDiffering(planned).length === 0)
      return console.log(json ? JSON.stringify({ restored: false, ...toJson(planned, work) }) : lines);
    console.error(lines);
    await confirm(account);
  }
  const outcome = await restoreAccounts(work, false);
  const lines = toLines(outcome, work, "done").join("\n");
  console.log(json ? JSON.stringify({ restored: true, ...toJson(outcome, work) }) : lines);
  const differing = findDiffering(outcome).map(({ account }) => account);
  if (differing.length === 0) return;
  const selection = account ? `--account ${account}` : "--all";
  await rebuildCounts(differing, work).catch(async (error: unknown) => {
    throw await toPartialFailure(
      error,
      (reason) => `Restored; counting stopped: ${reason} Run \`counts rebuild ${selection}\`.`,
    );
  });
  if (!json) console.log(`The counts are rebuilt. Verify them with \`counts verify ${selection}\`.`);
}

function confirm(account: string | undefined): Promise<void> {
  const what = account === undefined ? "live table" : "account";
  return confirmName(account ?? tableName, {
    question: `This cannot be undone. Type the name of the ${what} to restore it: `,
    refusal: `That is not the name of the ${what}: nothing was restored. Scripts use --yes.`,
  });
}

async function restoreAccounts(
  { accounts, leavesGone, at, ...work }: Work,
  dryRun: boolean,
  onChange: (change: ListedChange) => void = () => {},
): Promise<Outcome> {
  const restored: Outcome["accounts"][number][] = [];
  const gone: string[] = [];
  let made = 0;
  const note = (change: ListedChange) => {
    made += 1;
    onChange(change);
  };
  try {
    await withProgress(
      dryRun ? "Comparing" : "Restoring",
      () => countRows(accounts.flatMap(countedOwners), work.pace),
      async (onRows) => {
        for (const account of accounts) {
          // Asked only now, because an account may be erased while the command runs.
          if (leavesGone && (await isGone(account, work.pace))) gone.push(account);
          else
            restored.push({
              account,
              changes: await restoreAccount(account, { ...work, dryRun, onRows, onChange: note }),
            });
        }
      },
    );
    return { accounts: restored, gone };
  } catch (cause) {
    // The error does not say which of the two tables is missing.
    const error =
      cause instanceof ResourceNotFoundException
        ? await checkBackupTable(work.from, Date.parse(at), work.pace).then(
            () => cause,
            (missing: unknown) => missing,
          )
        : cause;
    if (dryRun) throw error;
    throw await toPartialFailure(
      error,
      (reason) => `Stopped after ${made} changes: ${reason} Run the same command again to continue.`,
    );
  }
}

/** The maintainers count each change. A rebuild makes sure that a spoiled tree is right, too. */
async function rebuildCounts(accounts: readonly string[], { pace, wait }: Work): Promise<void> {
  const rows = new Map<string, number>();
  for (const account of accounts) rows.set(account, await countRows(countedOwners(account), pace));
  const total = [...rows.values()].reduce((sum, number) => sum + number, 0);
  await withProgress(
    "Counting",
    () => total,
    (onRows) =>
      bySize(
        rows,
        async (account) => void (await rebuildAccount(countedOwners(account), { pace, wait, onRows })),
      ),
  );
}

/** Prints each change when it is found, as one JSON object with the totals at its end. */
async function listChanges(work: Work): Promise<void> {
  // Whoever reads only the first changes, with `head`, ends the command.
  process.stdout.on("error", () => process.exit());
  let separator = "";
  console.log('{"changes":[');
  const outcome = await restoreAccounts(work, true, (change) => {
    console.log(`${separator}${JSON.stringify(change)}`);
    separator = ",";
  });
  console.log(`],${JSON.stringify({ restored: false, ...toJson(outcome, work) }).slice(1)}`);
}
