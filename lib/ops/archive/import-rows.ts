import type { Command } from "commander";
import { ulid } from "ulid";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { forEachAtRate, parseRate } from "../common/for-each-at-rate.ts";
import { opsCommand, type PacedAccountOptions, pacedWritingCommand } from "../common/options.ts";
import { type OnRows, withProgress } from "../common/progress.ts";
import { readErasedIds } from "../erasure/erased-leads.ts";
import { sweepErasedSince } from "../erasure/sweep-erased.ts";
import type { ArchiveLine } from "./archive-lines.ts";
import { type Importing, type LineOutcome, storeLine } from "./store-line.ts";

/** How many rows are written concurrently. */
const parallel = 32;

/** The options of a command that imports a file. */
export interface ImportOptions extends PacedAccountOptions {
  readonly rate: number;
  readonly replace?: boolean;
}

/** A command that imports a file into an account. */
export const importingCommand = (description: string): Command =>
  pacedWritingCommand("import", description).option(
    "--rate <rows>",
    "the maximum number of rows to write per second",
    parseRate,
    500,
  );

/** The number of lines with each outcome. */
export type Outcomes = Readonly<Record<LineOutcome, number>>;

/** A file to import. */
interface Source {
  /** The number of rows, valid or not. */
  readonly count: number;
  /** The lines of its valid rows, in phases: each begins when the one before has ended. @param onRows called when a row is done */
  readonly phases: readonly ((onRows: OnRows) => AsyncGenerator<ArchiveLine>)[];
  /** The conversations of the file: those of erased leads are deleted, with what was stored after their erasure. */
  readonly conversations?: () => AsyncIterable<{ readonly id: string; readonly leadId: string }>;
  /** Called when all lines are stored, unless the import is a dry run. */
  readonly whenStored?: (erased: ReadonlySet<string>) => Promise<void>;
}

/**
 * Stores the lines of a file, each once, no matter how often it runs, and none of erased leads: what it has stored of leads
 * that were erased meanwhile is deleted at its end, also when it fails.
 *
 * @param report called with the number of lines that had each outcome
 */
export async function importRows(
  { rate, replace = false, dryRun = false, ...options }: ImportOptions,
  { count, phases, conversations = async function* () {}, whenStored }: Source,
  pace: Pace,
  report: (outcomes: Outcomes) => void,
): Promise<void> {
  const { account, json } = options;
  const outcomes = { imported: 0, present: 0, replaced: 0, erased: 0, orphaned: 0 };
  const countStored = () => outcomes.imported + outcomes.present + outcomes.replaced;
  const erased = new Set(await readErasedIds(account, pace));
  const unmet = new Set(erased);
  const missing = new Set<string>();
  const importing: Importing = { account, runId: ulid(), replace, dryRun, erased, unmet, missing, pace };
  const sweep = async () => dryRun || sweepErasedSince(account, unmet, conversations, pace);
  try {
    await withProgress(
      dryRun ? "Checking" : "Importing",
      () => count,
      async (onRows) => {
        for (const lines of phases)
          await forEachAtRate(lines(onRows), { rate, parallel }, async (line) => {
            const outcome = await storeLine(importing, line);
            outcomes[outcome] += 1;
          });
      },
    );
    if (!dryRun) await whenStored?.(erased);
    await sweep();
  } catch (error) {
    // The operator may not run the command again. The first error is the one to report.
    await sweep().catch(() => {});
    throw await toPartialFailure(
      error,
      (reason) => `Stopped after ${countStored()} rows: ${reason} Run the same command again to continue.`,
    );
  }
  report(outcomes);
  if (dryRun || json || outcomes.imported + outcomes.replaced === 0) return;
  const verify = opsCommand(options, `counts verify --account ${account}`);
  console.error(
    `Lists are exact once the rows are counted, normally within seconds: ${verify} shows what the counts lack.`,
  );
}
