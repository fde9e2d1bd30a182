import { table } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { selectTableByOptions, type TableOptions } from "../account-command.ts";
import { Pace } from "../pace.ts";
import type { Wait } from "../retry-while-busy.ts";
import { compareClocks } from "../table-clock.ts";

/** The options of every command on counts. */
export interface CountsOptions extends TableOptions {
  readonly units: number;
}

/** The options of every command on the counts of an account or of all accounts. */
export interface AccountsOptions extends CountsOptions {
  readonly account?: string;
  readonly all?: boolean;
}

/** @throws UserError if the options name neither an account nor all accounts */
export function checkAccounts({ account, all }: Pick<AccountsOptions, "account" | "all">): void {
  if (account === undefined && !all) throw new UserError("Name the account: --account ID or --all.");
}

/** Selects the table that the options name, with a client that compares the clocks. @returns the pace for its calls */
export async function selectCounts(options: CountsOptions, wait?: Wait): Promise<Pace> {
  // The pace makes all further attempts, so that it notices every throttle.
  await selectTableByOptions(options, { maxAttempts: 1 });
  compareClocks(table);
  return new Pace(options.units, wait);
}
