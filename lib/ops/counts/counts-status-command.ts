import type { Command } from "commander";
import { idTimestamp } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/pages/maintain/in-parallel.ts";
import type { CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { formatColumns } from "../common/columns.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, accountOrAllCommand, opsCommand } from "../common/options.ts";
import { type Pace, unitsOption, type Wait } from "../common/pace.ts";
import { tableTime } from "../common/table-clock.ts";
import { countedOwners, readAllOwners } from "./all-owners.ts";
import { countedRows, paced } from "./all-rows.ts";
import { readRebuild } from "./rebuild-roots.ts";
import { describeSublist, readSublists } from "./tree-items.ts";

/** `counts status`: the state of the counts of an account, or of all accounts. */
export const statusCommand = (wait: Wait): Command =>
  accountOrAllCommand(
    "status",
    "show what is counted, what waits to be counted, and rebuilds that have not ended",
  )
    .addOption(unitsOption())
    .action((options: AccountsOptions) => showStatus(options, wait));

async function showStatus(options: AccountsOptions, wait: Wait): Promise<void> {
  const { account, json } = options;
  const pace = await selectPacedAccounts(options, wait);
  const owners = account === undefined ? await readAllOwners(pace) : countedOwners(account);
  const lists: ListStatus[] = [];
  for (const owner of owners) lists.push(await readStatus(owner, pace));
  // The sublists of all accounts would be too many to print.
  const printed = lists.map(({ sublists, ...list }) => ({
    ...list,
    sublistTrees: sublists.length,
    ...(account !== undefined && { sublists }),
  }));
  if (json) return console.log(JSON.stringify(printed));
  console.log(formatColumns(lists.map(toTableRow)));
  for (const list of lists) if (list.rebuild) console.log(describeRebuild(options, list, list.rebuild));
  if (account === undefined) return;
  for (const list of lists) printSublists(list);
}

/** The most sublists that are printed. */
const mostSublists = 20;

function printSublists({ list, sublists }: ListStatus): void {
  if (sublists.length > 0)
    console.log(formatColumns(sublists.slice(0, mostSublists).map((sublist) => ({ ...sublist }))));
  const more = sublists.length - mostSublists;
  if (more > 0) console.log(`${more} more sublists of the ${list} have counts of their own: see --json.`);
}

/** A row of the printed table. */
function toTableRow({ sublists, tail, longerTail, oldestTailSeconds, full, rebuild, ...others }: ListStatus) {
  const { account, list, counted, levels, generation, version, pending } = others;
  return {
    ...{ account, list, counted },
    tail: longerTail ? `more than ${tail}` : tail,
    "oldest in tail": oldestTailSeconds === undefined ? "" : describeDuration(oldestTailSeconds),
    ...{ levels, generation, version, pending },
    "full dictionaries": full.join(", "),
    rebuilding: rebuild ? `${rebuild.percent} %` : "",
    sublists: sublists.length,
  };
}

const describeRebuild = (
  options: AccountsOptions,
  { account, list }: ListStatus,
  { percent, secondsSinceProgress }: NonNullable<ListStatus["rebuild"]>,
) =>
  `The ${list} of the account ${account} are being rebuilt: ${percent} % of the rows, last progress ${
    secondsSinceProgress === undefined
      ? "at an unknown time"
      : `${describeDuration(secondsSinceProgress)} ago`
  }. If no rebuild is running, run ${opsCommand(options, `counts rebuild --account ${account}`)} to continue.`;

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A time in seconds in its largest unit, such as "3 hours". */
function describeDuration(seconds: number): string {
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? ["second", 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The most rows of a tail that are read. */
const longestTail = 10_000;

/** The state of the counts of a list. */
type ListStatus = Awaited<ReturnType<typeof readStatus>>;

/** Reads the state of the counts of a list. */
export async function readStatus(owner: CountedOwner, pace: Pace) {
  const { live, next } = await pace.retry(() => readRebuild(owner));
  const start = live?.watermark ?? "";
  const tail = await readRows(owner, { start }, { ...paced(pace), maxRows: longestTail });
  const counted = live ? countedRows(live) : 0;
  const [oldest] = tail.rows;
  return {
    account: owner.account,
    list: `${owner.list.type}s`,
    /** The number of rows in the tree. */
    counted,
    /** The number of rows that are not counted yet, and whether there are more. */
    tail: tail.rows.length,
    longerTail: tail.next !== undefined,
    /** The age of the oldest row that is not counted, in seconds. */
    oldestTailSeconds: oldest && secondsSince(idTimestamp(oldest.sk)),
    /** The levels of nodes; undefined without a tree. */
    levels: live?.level,
    generation: live?.generation,
    version: live?.version,
    /** The dictionaries that refused a name. */
    full: live?.statuses.full ? ["statuses"] : [],
    /** The number of leaves without counts. */
    pending: live?.pending.length ?? 0,
    /** The sublists with trees of their own, the largest first. */
    sublists: await readSublistStatuses(owner, pace),
    rebuild: next && {
      /** The share of the rows that is counted. */
      percent: Math.floor((100 * countedRows(next)) / Math.max(1, counted + tail.rows.length)),
      secondsSinceProgress: next.progressAt === undefined ? undefined : secondsSince(next.progressAt),
    },
  };
}

const secondsSince = (time: number) => Math.max(0, Math.round((tableTime() - time) / 1000));

/** Reads the state of the sublists of a list that have trees, the largest first. */
async function readSublistStatuses(owner: CountedOwner, pace: Pace) {
  const sublists: Awaited<ReturnType<typeof readSublistStatus>>[] = [];
  await inParallel(await readSublists(owner, pace), async (sublist) => {
    sublists.push(await readSublistStatus(sublist, pace));
  });
  return sublists.sort((a, b) => b.counted - a.counted);
}

async function readSublistStatus(owner: SublistOwner, pace: Pace) {
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  const start = root?.watermark ?? "";
  const { rows } = await readRows(owner, { start }, { ...paced(pace), maxRows: longestTail });
  return {
    index: owner.sublist.index,
    /** The source or the channel. */
    of: Object.values(describeSublist(owner))[0] ?? "",
    counted: root ? countedRows(root) : 0,
    tail: rows.length,
    levels: root?.level ?? 0,
  };
}
