import { createHash } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { leftOutCodes, type PacedAccountOptions, pacedCommand } from "../common/options.ts";
import { writeOutput } from "../common/output-file.ts";
import { withProgress } from "../common/progress.ts";
import { Unreadable } from "../common/unreadable.ts";
import { countedOwners } from "../counts/all-owners.ts";
import { countRows } from "../counts/list-reading.ts";

type ExportOptions = PacedAccountOptions & { readonly output: string };

/** `accounts export`: writes everything of an account to an archive, which `accounts import` can read. */
export const exportAccountCommand = (): Command =>
  pacedCommand("export", "write everything of an account but its API keys, for `accounts import`")
    .requiredOption(
      "--output <file>",
      "the .jsonl file to write; its manifest is written beside it",
      parsePath,
    )
    .addHelpText("after", leftOutCodes)
    .action(exportAccount);

function parsePath(path: string): string {
  if (!path.endsWith(".jsonl")) throw new InvalidArgumentError("The file must end in .jsonl.");
  return path;
}

async function exportAccount(options: ExportOptions): Promise<void> {
  // The schemas take a quarter of the start of every command.
  const { format, manifestPath, version } = await import("./manifest.ts");
  const { noLines } = await import("./open-archive.ts");
  const { readAccount } = await import("./read-account.ts");
  const pace = await selectPacedAccounts(options);
  const { account, output, json } = options;
  const createdAt = new Date().toISOString();
  const hash = createHash("sha256");
  const lines = noLines();
  const unreadable = new Unreadable();
  await withProgress(
    "Exporting",
    () => countRows(countedOwners(account), pace),
    async (onRows) => {
      const text = async function* () {
        let empty = true;
        for await (const page of readAccount(account, pace, unreadable.note)) {
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
    },
  );
  const sha256 = hash.digest("hex");
  const manifest = { format, version, account, table: tableName, createdAt, sha256, lines };
  await writeOutput([`${JSON.stringify(manifest, undefined, 2)}\n`], manifestPath(output));
  const { lead, conversation, message } = lines;
  console.log(
    json
      ? JSON.stringify({ ...manifest, unreadable: unreadable.size })
      : `Exported ${lead} leads, ${conversation} conversations and ${message} messages.`,
  );
  unreadable.report();
}
