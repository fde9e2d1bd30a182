import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { listConversations } from "../../shared/domain/conversations.ts";
import { listLeads } from "../../shared/domain/leads.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import type { CountedOwner } from "../../shared/pages/tree/tree-store.ts";
import { UserError } from "../errors.ts";
import {
  type AccountOptions,
  accountCommand,
  type WritingOptions,
  writingCommand,
} from "./account-command.ts";
import type { Difference } from "./counts/difference.ts";
import { rebuild } from "./counts/rebuild.ts";
import { verify } from "./counts/verify.ts";
import { type Progress, startProgress } from "./progress.ts";
import type { Wait } from "./retry-while-busy.ts";
import { selectTableByOptions } from "./select-table.ts";

/** `counts rebuild|verify`: the counts that page the lists of an account. */
export function countsCommand(wait: Wait = setTimeout): Command {
  const counts = new Command("counts").description("verify or rebuild the counts of an account's lists");
  counts.addCommand(
    writingCommand(
      "rebuild",
      "rebuild the counts while the API stays available; takes at least a minute",
    ).action((options: WritingOptions) => rebuildCounts(options, wait)),
  );
  counts.addCommand(
    accountCommand("verify", "count all rows and compare; exits with 1 if the counts still differ").action(
      (options: AccountOptions) => verifyCounts(options, wait),
    ),
  );
  return counts;
}

async function rebuildCounts(options: WritingOptions, wait: Wait): Promise<void> {
  await selectTableByOptions(options);
  const { account, json, dryRun } = options;
  if (dryRun) return reportRows(options);
  await withProgress(options, "Rebuilding", 2, (progress) =>
    Promise.all(countedOwners(account).map((owner) => rebuild(owner, { wait, onRows: progress.advance }))),
  );
  console.log(
    json ? JSON.stringify({ account, rebuilt: true }) : `The counts of the account ${account} are rebuilt.`,
  );
}

async function reportRows({ account, json }: WritingOptions): Promise<void> {
  const rows = await countRows(account);
  console.log(
    json
      ? JSON.stringify({ account, rebuilt: false, rows })
      : `The counts of the account ${account} would be rebuilt: ${rows} rows would be read twice.`,
  );
}

async function verifyCounts(options: AccountOptions, wait: Wait): Promise<void> {
  await selectTableByOptions(options);
  const verifyList = async (owner: CountedOwner, { advance }: Progress) => {
    const differences = await verify(owner, { wait, onRows: advance });
    return differences.map((difference) => ({ list: `${owner.list.type}s`, ...difference }));
  };
  const lists = await withProgress(options, "Verifying", 1, (progress) =>
    Promise.all(countedOwners(options.account).map((owner) => verifyList(owner, progress))),
  );
  reportDifferences(options, lists.flat());
}

const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

function reportDifferences(
  { account, json }: AccountOptions,
  differences: readonly (Difference & { readonly list: string })[],
): void {
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are correct.`);
  else console.table(differences.flatMap(toTableRows));
  if (differences.length === 0) return;
  throw new UserError(
    `The counts of the account ${account} differ in ${differences.length} places: run \`counts rebuild\`.`,
  );
}

/** A row of the printed table for each cell that differs. */
function toTableRows({ list, level, start, end, cells }: Difference & { readonly list: string }) {
  const range = { list, level, from: start, to: end };
  return cells.map(({ status, sourceOrChannel = "(none)", counted, actual }) => ({
    ...range,
    ...{ status, sourceOrChannel, counted, actual },
  }));
}

/** Shows the progress of work that reads all rows of the account's lists a number of times. */
async function withProgress<T>(
  { account }: AccountOptions,
  label: string,
  times: number,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = startProgress(label);
  try {
    // The total costs reads, so it is read only for a terminal that shows it.
    if (process.stderr.isTTY) progress.expect(times * (await countRows(account)));
    return await work(progress);
  } finally {
    progress.stop();
  }
}

async function countRows(account: string): Promise<number> {
  const page = { page: 1, limit: 1 };
  const lists = await Promise.all([listLeads(account, {}, page), listConversations(account, {}, page)]);
  return lists.reduce((sum, { pagination }) => sum + pagination.total, 0);
}
