import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { indexes } from "../../shared/dynamodb/keys.ts";
import { selectTableByOptions, writingAccountOrAllCommand } from "./account-command.ts";
import { toPartialFailure } from "./aws-errors.ts";
import {
  type BackfillPosition,
  backfillIndexes,
  firstPosition,
  planBackfill,
} from "./changes/backfill-indexes.ts";
import { countedOwners, readAllOwners } from "./counts/all-owners.ts";
import { countRows } from "./counts/all-rows.ts";
import { type AccountsOptions, checkAccounts } from "./counts/counts-options.ts";
import { parseRate } from "./import-export/leads-import.ts";
import { Pace, unitsOption } from "./pace.ts";
import { type OnRows, withProgress } from "./progress.ts";
import { ProgressFile } from "./progress-file.ts";
import type { Wait } from "./retry-while-busy.ts";

interface BackfillOptions extends AccountsOptions {
  readonly rate: number;
  readonly progress?: string;
  readonly dryRun?: boolean;
}

/** `index backfill`: lists the rows from before an index in it. */
export function indexCommand(wait: Wait = setTimeout): Command {
  const backfillCommand = writingAccountOrAllCommand(
    "backfill",
    "give leads and conversations from before an index the keys that list them in it",
  )
    .option("--rate <rows>", "the maximum number of rows to write per second", parseRate, 500)
    .addOption(unitsOption())
    .option("--progress <file>", "keep the progress in a file, and continue from it")
    .action((options: BackfillOptions) => backfill(options, wait));
  return new Command("index").description("fill the indexes of the table").addCommand(backfillCommand);
}

async function backfill(options: BackfillOptions, wait: Wait): Promise<void> {
  checkAccounts(options);
  // The pace makes all further attempts, so that it notices every throttle.
  await selectTableByOptions(options, { maxAttempts: 1 });
  const { account, rate, dryRun } = options;
  const pace = new Pace(options.units, wait);
  const file = openProgress(options);
  const saved = { ...firstPosition, ...(await file?.read()) };
  if (saved.rows > 0) console.error(`Continuing after ${saved.rows} rows.`);
  // A dry run counts what is left to do.
  const from = dryRun ? { ...firstPosition, key: saved.key } : saved;
  const owners = account === undefined ? await readAllOwners(pace) : countedOwners(account);
  let done = from;
  const onWritten = async (position: BackfillPosition) => {
    await file?.save(position);
    done = position;
  };
  const work = (onRows: OnRows) => {
    const reading = { pace, from, onRows };
    return dryRun ? planBackfill(owners, reading) : backfillIndexes(owners, { ...reading, rate, onWritten });
  };
  const countLeft = async () => (await countRows(owners, pace)) - saved.rows;
  try {
    const end = await withProgress(dryRun ? "Reading" : "Backfilling", countLeft, work);
    if (!dryRun) await file?.remove();
    report(options, end);
  } catch (error) {
    const describe = (reason: string) =>
      `Stopped after ${done.rows} rows: ${reason} Run the command again to continue.`;
    throw await toPartialFailure(error, describe);
  }
}

/** Options that only change the speed may differ when the command continues, and the indexes must be the same. */
const openProgress = ({ progress, local, stage, table, account }: BackfillOptions) =>
  progress === undefined
    ? undefined
    : new ProgressFile<BackfillPosition>(progress, { local, stage, table, account, indexes });

function report({ account, json, dryRun }: BackfillOptions, end: BackfillPosition): void {
  const { rows, outdated, incomplete, incompleteKeys } = end;
  const verb = dryRun ? "would get" : "have got";
  const named = incompleteKeys.map(({ pk, sk }) => `${pk} ${sk}`);
  if (incomplete > named.length) named.push("…");
  const skipped =
    incomplete > 0 ? ` Incomplete rows stay as they are: ${incomplete} (${named.join(", ")}).` : "";
  console.log(
    json
      ? JSON.stringify({ account, backfilled: !dryRun, rows, outdated, incomplete, incompleteKeys })
      : `${outdated} of ${rows} rows ${verb} the index keys that they lacked.${skipped}`,
  );
}
