import type { Command } from "commander";
import { formatColumns } from "../common/columns.ts";
import { allAccountsCommand, type PacedOptions, selectPacedTable } from "../common/options.ts";
import { unitsOption } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { countTableItems } from "../common/read-items.ts";
import { countAccounts, type ItemCounts } from "./account-items.ts";

/** `accounts list`: the accounts of a table. */
export const listAccountsCommand = (): Command =>
  allAccountsCommand("list", "list all accounts with the number of their items; reads the whole table")
    .addOption(unitsOption())
    .action(listAccounts);

async function listAccounts(options: PacedOptions): Promise<void> {
  const pace = await selectPacedTable(options);
  const accounts = await withProgress("Reading", countTableItems, (onRows) => countAccounts(pace, onRows));
  const rows = [...accounts].map(([account, counts]) => ({ account, ...describeCounts(counts) }));
  if (options.json) return console.log(JSON.stringify(rows));
  if (rows.length === 0) return console.log("The table has no accounts.");
  console.log(formatColumns(rows));
}

/** The numbers of an account's items. `others` are derived, or records of imports and the account's own rate limit. */
export function describeCounts(counts: ItemCounts) {
  const { lead = 0, conversation = 0, message = 0, apiKey = 0, erasedLead = 0, ...rest } = counts;
  const others = Object.values(rest).reduce((sum, number) => sum + number, 0);
  return {
    ...{ leads: lead, conversations: conversation, messages: message },
    ...{ keys: apiKey, erasedLeads: erasedLead, others },
  };
}
