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
  selectTableByOptions,
  writingCommand,
} from "./account-command.ts";
import type { Reading } from "./counts/all-rows.ts";
import type { Difference } from "./counts/difference.ts";
import { rebuild } from "./counts/rebuild.ts";
import { verify } from "./counts/verify.ts";
import { withProgress } from "./progress.ts";
import type { Wait } from "./retry-while-busy.ts";

/** `counts rebuild|verify`: the counts that page the lists of an account. */
export function countsCommand(wait: Wait = setTimeout): Command {
  const rebuildCommand = writingCommand(
    "rebuild",
    "rebuild the counts while the API stays available; takes at least a minute",
  ).action((options: AccountOptions) => rebuildCounts(options, wait));
  const verifyCommand = accountCommand(
    "verify",
    "count all rows and compare; exits with 1 if the counts still differ",
  ).action((options: AccountOptions) => verifyCounts(options, wait));
  return new Command("counts")
    .description("verify or rebuild the counts of an account's lists")
    .addCommand(rebuildCommand)
    .addCommand(verifyCommand);
}

async function rebuildCounts(options: AccountOptions, wait: Wait): Promise<void> {
  await selectTableByOptions(options);
  const { account, json, dryRun } = options;
  if (dryRun) return reportRows(options);
  await withProgress(
    "Rebuilding",
    async () => 2 * (await countRows(account)),
    (onRows) => Promise.all(countedOwners(account).map((owner) => rebuild(owner, { wait, onRows }))),
  );
  console.log(
    json ? JSON.stringify({ account, rebuilt: true }) : `The counts of the account ${account} are rebuilt.`,
  );
}

async function reportRows({ account, json }: AccountOptions): Promise<void> {
  const rows = await countRows(account);
  console.log(
    json
      ? JSON.stringify({ account, rebuilt: false, rows })
      : `The counts of the account ${account} would be rebuilt: ${rows} rows would be read twice.`,
  );
}

async function verifyCounts(options: AccountOptions, wait: Wait): Promise<void> {
  await selectTableByOptions(options);
  const { account, json } = options;
  const lists = await withProgress(
    "Verifying",
    () => countRows(account),
    (onRows) => Promise.all(countedOwners(account).map((owner) => verifyList(owner, { wait, onRows }))),
  );
  const differences = lists.flat();
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length === 0) console.log(`The counts of the account ${account} are correct.`);
  else console.table(differences.flatMap(toTableRows));
  if (differences.length === 0) return;
  throw new UserError(
    `The counts of the account ${account} differ in ${differences.length} places: run \`counts rebuild\`.`,
  );
}

const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

async function verifyList(owner: CountedOwner, reading: Partial<Reading>) {
  const differences = await verify(owner, reading);
  return differences.map((difference) => ({ list: `${owner.list.type}s`, ...difference }));
}

/** A row of the printed table for each cell that differs. */
const toTableRows = ({ list, level, start, end, cells }: Difference & { readonly list: string }) =>
  cells.map(({ status, sourceOrChannel = "(none)", counted, actual }) => ({
    ...{ list, level, from: start, to: end },
    ...{ status, sourceOrChannel, counted, actual },
  }));

async function countRows(account: string): Promise<number> {
  const page = { page: 1, limit: 1 };
  const lists = await Promise.all([listLeads(account, {}, page), listConversations(account, {}, page)]);
  return lists.reduce((sum, { pagination }) => sum + pagination.total, 0);
}
