import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import type { CountedOwner } from "../../shared/pages/tree/tree-store.ts";
import { UserError } from "../errors.ts";
import {
  type AccountOptions,
  accountCommand,
  type WritingOptions,
  writingCommand,
} from "./account-command.ts";
import type { Difference } from "./counts/difference.ts";
import { type Progress, startProgress } from "./progress.ts";
import { type ConnectionOptions, selectTable } from "./select-table.ts";

type Wait = (milliseconds: number) => Promise<unknown>;

/** `counts rebuild|verify`: the counts by which an account's lists are paged. */
export function countsCommand(wait: Wait = setTimeout): Command {
  const counts = new Command("counts").description("check or make anew the counts of an account's lists");
  counts.addCommand(
    writingCommand(
      "rebuild",
      "make the counts anew, while the API goes on; it takes a minute at least",
    ).action((options: WritingOptions) => rebuildCounts(options, wait)),
  );
  counts.addCommand(
    accountCommand("verify", "count all rows and compare; exits with 1 if a difference lasts").action(
      (options: AccountOptions) => verifyCounts(options, wait),
    ),
  );
  return counts;
}

async function rebuildCounts(options: WritingOptions, wait: Wait): Promise<void> {
  const { rebuild, accountLists } = await countModules(options);
  if (options.dryRun) return reportRows(options);
  await withProgress(options, "Rebuilding", 2, (progress) =>
    Promise.all(
      accountLists(options.account).map((owner) => rebuild(owner, { wait, onRows: progress.advance })),
    ),
  );
  const { account, json } = options;
  console.log(
    json ? JSON.stringify({ account, rebuilt: true }) : `The counts of the account ${account} are made anew.`,
  );
}

async function reportRows({ account, json }: WritingOptions): Promise<void> {
  const rows = await countRows(account);
  console.log(
    json
      ? JSON.stringify({ account, rebuilt: false, rows })
      : `The counts of the account ${account} would be made anew: ${rows} rows would be read twice.`,
  );
}

async function verifyCounts(options: AccountOptions, wait: Wait): Promise<void> {
  const { verify, accountLists } = await countModules(options);
  const verifyList = async (owner: CountedOwner, { advance }: Progress) => {
    const differences = await verify(owner, { wait, onRows: advance });
    return differences.map((difference) => ({ list: `${owner.list.type}s`, ...difference }));
  };
  const lists = await withProgress(options, "Verifying", 1, (progress) =>
    Promise.all(accountLists(options.account).map((owner) => verifyList(owner, progress))),
  );
  report(options, lists.flat());
}

function report(
  { account, json }: AccountOptions,
  differences: readonly (Difference & { readonly list: string })[],
): void {
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are right.`);
  else console.table(differences.flatMap(toTableRows));
  if (differences.length === 0) return;
  throw new UserError(
    `The counts of the account ${account} differ in ${differences.length} places: run \`counts rebuild\`.`,
  );
}

/** A line of the table for each cell that differs. */
function toTableRows({ list, level, start, end, cells }: Difference & { readonly list: string }) {
  const place = { list, level, from: start, to: end };
  return cells.map(({ status, sourceOrChannel = "(none)", counted, actual }) => ({
    ...place,
    ...{ status, sourceOrChannel, counted, actual },
  }));
}

/** The modules are imported only here, because they selectTable to the table that `selectTable` has chosen. */
async function countModules(options: ConnectionOptions) {
  await selectTable(options);
  const [{ rebuild }, { verify }, { countedLists }] = await Promise.all([
    import("./counts/rebuild.ts"),
    import("./counts/verify.ts"),
    import("../../shared/pages/tree/counted-list.ts"),
  ]);
  const accountLists = (account: string): CountedOwner[] =>
    Object.values(countedLists).map((list) => ({ account, list }));
  return { rebuild, verify, accountLists };
}

/** Shows how far the work has come that reads all rows of the account's lists so many times. */
async function withProgress<T>(
  { account }: AccountOptions,
  label: string,
  times: number,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = startProgress(label);
  try {
    // The lists know how long they are; where nobody looks, they are not asked.
    if (process.stderr.isTTY) progress.expect(times * (await countRows(account)));
    return await work(progress);
  } finally {
    progress.stop();
  }
}

async function countRows(account: string): Promise<number> {
  const [{ listLeads }, { listConversations }] = await Promise.all([
    import("../../shared/domain/leads.ts"),
    import("../../shared/domain/conversations.ts"),
  ]);
  const page = { page: 1, limit: 1 };
  const lists = await Promise.all([listLeads(account, {}, page), listConversations(account, {}, page)]);
  return lists.reduce((sum, { pagination }) => sum + pagination.total, 0);
}
