import { createHash } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import {
  type AccountOptions,
  accountCommand,
  type PacedOptions,
  selectPacedTable,
} from "../common/options.ts";
import { writeOutput } from "../common/output-file.ts";
import { type Pace, unitsOption } from "../common/pace.ts";
import { type OnRows, withProgress } from "../common/progress.ts";
import { countedOwners } from "../counts/all-owners.ts";
import { totalRows } from "../counts/all-rows.ts";
import { type LineType, lineTypes } from "./account-lines.ts";
import { format, type Manifest, manifestPath, version } from "./manifest.ts";
import { readAccount } from "./read-account.ts";

type ExportOptions = AccountOptions & PacedOptions & { readonly output: string };

/** `accounts export`: writes everything of an account to a file that `accounts import` can read. */
export const exportAccountCommand = (): Command =>
  accountCommand("export", "write everything of an account but its API keys, for `accounts import`")
    .requiredOption(
      "--output <file>",
      "the .jsonl file to write; its manifest is written beside it",
      parsePath,
    )
    .addOption(unitsOption())
    .action(exportAccount);

function parsePath(path: string): string {
  if (!path.endsWith(".jsonl")) throw new InvalidArgumentError("The file must end in .jsonl.");
  return path;
}

async function exportAccount(options: ExportOptions): Promise<void> {
  const pace = await selectPacedTable(options);
  const { account, output, json } = options;
  const createdAt = new Date().toISOString();
  const { sha256, lines } = await withProgress(
    "Exporting",
    () => countRows(account, pace),
    (onRows) => writeLines(account, output, pace, onRows),
  );
  const manifest: Manifest = { format, version, account, table: tableName, createdAt, sha256, lines };
  await writeOutput(toChunks(`${JSON.stringify(manifest, undefined, 2)}\n`), manifestPath(output));
  const { lead, conversation, message } = lines;
  console.log(
    json
      ? JSON.stringify(manifest)
      : `Exported ${lead} leads, ${conversation} conversations and ${message} messages.`,
  );
}

/** Writes the lines of the account. @throws UserError when it has none */
async function writeLines(account: string, output: string, pace: Pace, onRows: OnRows) {
  const hash = createHash("sha256");
  const lines = Object.fromEntries(lineTypes.map((type) => [type, 0])) as Record<LineType, number>;
  const text = async function* () {
    let empty = true;
    for await (const page of readAccount(account, pace)) {
      if (page.length === 0) continue;
      empty = false;
      for (const { type } of page) lines[type] += 1;
      const chunk = page.map((line) => `${JSON.stringify(line)}\n`).join("");
      hash.update(chunk);
      yield chunk;
      onRows(page.length);
    }
    if (empty) throw new UserError(`The account ${account} has nothing to export.`);
  };
  await writeOutput(text(), output);
  return { sha256: hash.digest("hex"), lines };
}

/** The number of leads and conversations. */
async function countRows(account: string, pace: Pace): Promise<number> {
  const totals = countedOwners(account).map((owner) => totalRows(owner, pace));
  return (await Promise.all(totals)).reduce((sum, rows) => sum + rows, 0);
}

async function* toChunks(text: string): AsyncGenerator<string> {
  yield text;
}
