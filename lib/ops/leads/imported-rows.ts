import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { createdAt } from "../../../shared/ids.ts";
import { inColumns, onAccount } from "../command/action.ts";
import { type AccountOptions, command } from "../command/command.ts";
import { readErasedIds } from "../erasure/erased-leads.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { readStored } from "../table/valid-records.ts";

/** Reads the records of the rows that an account has imported. */
export async function* readImportedRows(account: string, pace: Pace, invalid: InvalidItems) {
  for await (const items of queryItems(inPartition(accountPartition("leadImport", account)), pace))
    for (const item of items) {
      const record = readStored("leadImport", item, invalid);
      if (record) yield record;
    }
}

/** `leads imports`: the imports of an account, newest first. */
export const importsCommand = () =>
  command("imports", "list the imports, each with the number of its leads that are not erased", {
    paced: true,
  }).action(
    onAccount<AccountOptions>(async ({ account }, { pace, invalid }) => {
      const erased = await readErasedIds(account, pace);
      const counts = new Map<string, number>();
      for await (const { importId, leadId } of readImportedRows(account, pace, invalid))
        if (!erased.has(leadId)) counts.set(importId, (counts.get(importId) ?? 0) + 1);
      const imports = [...counts]
        .sort(([a], [b]) => (a < b ? 1 : -1))
        .map(([importId, leads]) => ({ importId, startedAt: createdAt(importId), leads }));
      return inColumns(imports, `The account ${account} has no imports.`);
    }),
  );
