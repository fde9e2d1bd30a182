import { Option } from "commander";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { ApiError } from "../../../shared/errors.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { UserError } from "../../user-error.ts";
import { onAccount, type Printed, print, type Tools } from "../command/action.ts";
import { type AccountOptions, command } from "../command/command.ts";
import { type Storing, storeRows } from "../table/store-rows.ts";
import { type FileOptions, withFileOptions } from "./file/file-options.ts";
import { rowFault } from "./file/file-parts.ts";
import { type LeadFile, openLeadFile } from "./file/lead-file.ts";
import { type Import, type LeadRow, rowToLead } from "./file/row-to-lead.ts";
import { describeOutcomes, describeUnknown } from "./import-report.ts";
import { Rejects } from "./rejects.ts";
import { storeLead } from "./store-lead.ts";
import { undoImport } from "./undo-import.ts";

/** How many rows are written concurrently. */
const leadsAtOnce = 32;

/** `leads import`: stores the leads of a file, each of them once, no matter how often it runs. */
export const importCommand = () =>
  withFileOptions(
    command("import", "store the leads of a file; after a failure, run it again to continue", {
      paced: true,
      writes: true,
    }),
  )
    .argument(
      "[file]",
      "a .json file with an array, a .jsonl file, or a CSV file whose first row names the columns",
    )
    .option(
      "--update",
      "update the leads that rows name (by id, externalId or an address) or that were imported from them; empty cells change nothing",
      false,
    )
    .addOption(
      new Option(
        "--undo <import>",
        "erase the leads of an import that nobody has changed or written to since",
      ).conflicts(["update", "map", "ignoreOthers", "mapValue", "encoding", "dateFormat", "timeZone"]),
    )
    .addHelpText(
      "after",
      "\nInvalid rows are written to <file>.rejected-<time>.jsonl, which can be corrected and imported. --dry-run checks the rows and needs no table.\nExit codes: 0 all rows are stored or, with --undo, all leads of the import erased; 1 failure; 3 some rows are invalid, or some leads kept.",
    )
    .action(importOrUndo);

type ImportOptions = AccountOptions & FileOptions & { readonly update: boolean; readonly undo?: string };

async function importOrUndo(path: string | undefined, options: ImportOptions): Promise<void> {
  const { account, undo, dryRun, update } = options;
  if ((path === undefined) === (undo === undefined))
    throw new UserError("Name a file, or an import with --undo.");
  const onOwn = (act: (tools: Tools) => Promise<Printed>) => onAccount((_, tools) => act(tools))(options);
  if (path === undefined) return onOwn((tools) => undoImport(String(undo), options, tools));
  const file = await openLeadFile(path, options);
  const isUnknown = file.header.options.length > 0;
  const isTried = dryRun || isUnknown;
  const startedAt = Date.now();
  const time = new Date(startedAt).toISOString().replaceAll(":", "-");
  const rejects = new Rejects(isTried ? undefined : `${path}.rejected-${time}.jsonl`);
  const valid = validRows(file, rejects, { startedAt, update, lines: new Map() });
  if (!isTried) return onOwn(({ pace }) => storeLeads(file, valid, rejects, options, pace));
  const first: object[] = [];
  for await (const { lead } of valid) if (first.length < 3) first.push(lead);
  const counts = { valid: file.count - rejects.count };
  const tried = describeOutcomes(account, file, { counts, first }, rejects);
  if (isUnknown) throw new UserError(`${describeUnknown(file.header)}\n${tried.text}`);
  print(options, tried);
}

async function storeLeads(
  file: LeadFile,
  valid: ReturnType<typeof validRows>,
  rejects: Rejects,
  options: ImportOptions,
  pace: Pace,
) {
  const { account, update } = options;
  const outcomes = { stored: 0, updated: 0, present: 0, different: 0, erased: 0 };
  /** Stores a row, or rejects it if it does not fit what is stored. */
  const storeRow = async (storing: Storing, row: LeadRow) => {
    try {
      outcomes[await storeLead(storing, row, update)] += 1;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { faults = [rowFault("", "not_allowed", `is not stored: ${error.message}`)] } = error.details;
      rejects.add(row.line, faults, row.value);
    }
  };
  let importId = "";
  const countStored = () => Object.values(outcomes).reduce((sum, n) => sum + n) - outcomes.erased;
  await storeRows(options, pace, countStored, async (storing) => {
    importId = storing.runId;
    await inParallel(valid, (row) => storeRow(storing, row), leadsAtOnce);
  });
  const { stored: imported, updated, different, erased } = outcomes;
  const present = outcomes.present + different;
  const counts = { imported, ...(update && { updated }), present, erased };
  return describeOutcomes(account, file, { importId, counts, different }, rejects);
}

/** Reads the valid rows. Invalid rows are written to the rejects. */
async function* validRows(file: LeadFile, rejects: Rejects, context: Import) {
  let left = file.count;
  for (const row of file.rows()) {
    left -= 1;
    const checked = row.fault ? { faults: [row.fault] } : rowToLead(row, left, context);
    if ("lead" in checked) yield checked;
    else rejects.add(row.line, checked.faults, row.value);
  }
}
