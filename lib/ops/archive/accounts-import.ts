import type { Command } from "commander";
import { ulid } from "ulid";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { UserError } from "../../errors.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import { type AccountOptions, selectPacedTable, writingCommand } from "../common/options.ts";
import type { Wait } from "../common/pace.ts";
import { type Pace, unitsOption } from "../common/pace.ts";
import { type OnRows, withProgress } from "../common/progress.ts";
import { countImported } from "../counts/count-imported.ts";
import { readErasedIds } from "../erasure/erased-leads.ts";
import { sweepErasedSince } from "../erasure/sweep-erased.ts";
import { parseRate } from "../leads/leads-import.ts";
import { type AccountFile, openAccountFile } from "./account-file.ts";
import type { AccountLine } from "./account-lines.ts";
import { importLine, type LineOutcome } from "./import-line.ts";
import { isImported, noteImport } from "./import-state.ts";

interface ImportOptions extends AccountOptions {
  readonly rate: number;
  readonly units: number;
  readonly rename?: boolean;
}

/** How many lines are written concurrently. */
const parallel = 32;

/** `accounts import`: stores everything of an exported account, each item once, no matter how often it runs. */
export const importAccountCommand = (wait: Wait): Command =>
  writingCommand(
    "import",
    "store an exported account in an empty one; after a failure, run it again to continue",
  )
    .argument("<file>", "the .jsonl file of `accounts export`; its manifest is beside it")
    .option("--rename", "the account had another name where it was exported")
    .option("--rate <lines>", "the maximum number of lines to write per second", parseRate, 500)
    .addOption(unitsOption())
    .action((path: string, options: ImportOptions) => importAccount(path, options, wait));

async function importAccount(path: string, options: ImportOptions, wait: Wait): Promise<void> {
  const { account, rename, json, dryRun } = options;
  await using file = await openAccountFile(path);
  const { manifest, count } = file;
  if (manifest.account !== account && !rename)
    throw new UserError(
      `${path} has the account ${manifest.account}: add --rename to import it as ${account}.`,
    );
  const pace = await selectPacedTable(options, wait);
  const lines = dryRun ? "would be imported" : "imported";
  const outcome = { imported: 0, present: 0, erased: 0 };
  if (await isImported(account, manifest.sha256, pace)) outcome.present = count;
  else if (dryRun) outcome.imported = count;
  else await importFile(options, file, { pace, wait, outcome });
  const { imported, present, erased } = outcome;
  console.log(
    json
      ? JSON.stringify({ account, lines: count, ...outcome })
      : `${count} lines: ${imported} ${lines}, ${present} already imported, ${erased} of erased leads.`,
  );
}

async function importFile(
  { account, rate, json }: ImportOptions,
  file: AccountFile,
  { pace, wait, outcome }: { pace: Pace; wait: Wait; outcome: Record<LineOutcome, number> },
): Promise<void> {
  const { sha256 } = file.manifest;
  await noteImport(account, sha256, "startedAt", pace);
  const erased = new Set(await readErasedIds(account, pace));
  const unmet = new Set(erased);
  const accountImport = { account, runId: ulid(), erased, unmet, pace };
  const sweep = () => sweepErasedSince(account, unmet, { pace, wait });
  try {
    await withProgress(
      "Importing",
      () => file.count,
      (onRows) =>
        forEachAtRate(reported(file.lines(), onRows), { rate, parallel }, async (line) => {
          outcome[await importLine(accountImport, line)] += 1;
        }),
    );
  } catch (error) {
    // For whoever does not run it again. The first error is the one to report.
    await sweep().catch(() => {});
    const stored = outcome.imported + outcome.present;
    throw await toPartialFailure(
      error,
      (reason) => `Stopped after ${stored} lines: ${reason} Run the same command again to continue.`,
    );
  }
  if (file.count > limits.sublistRows)
    await countImported(account, { pace, wait, print: json ? () => {} : console.log });
  await sweep();
  await noteImport(account, sha256, "endedAt", pace);
}

/** Reports each line when the next one is read. */
async function* reported(lines: AsyncGenerator<AccountLine>, onRows: OnRows) {
  for await (const line of lines) {
    yield line;
    onRows(1);
  }
}
