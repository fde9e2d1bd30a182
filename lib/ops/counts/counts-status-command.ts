import type { Command } from "commander";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { idTimestamp } from "../../../shared/ids.ts";
import { readSublists } from "../../../shared/pages/audit/read-list.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { DamagedTreeError, readRoot, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { formatColumns } from "../output/columns.ts";
import { selectPacedAccounts } from "../command/known-account.ts";
import { type AccountsOptions, accountOrAllCommand, leftOutCodes } from "../command/command.ts";
import { tableTime } from "../table/table-clock.ts";
import { Unreadable } from "../table/unreadable.ts";
import { countedOwners, readAllOwners } from "../table/counted-owners.ts";
import { countedRows } from "./list-reading.ts";

/** `counts status`: the state of the counts of an account, or of all accounts. */
export const statusCommand = (): Command =>
  accountOrAllCommand("status", "show what is counted, and what waits to be counted")
    .addHelpText("after", leftOutCodes)
    .action(showStatus);

async function showStatus(options: AccountsOptions): Promise<void> {
  const { account, json } = options;
  const pace = await selectPacedAccounts(options);
  const unreadable = new Unreadable();
  const owners = account === undefined ? await readAllOwners(pace, unreadable.note) : countedOwners(account);
  const lists: ListStatus[] = [];
  for (const owner of owners) lists.push(await readStatus(owner, pace, unreadable));
  console.log(json ? JSON.stringify(lists) : formatColumns(lists.map(toTableRow)));
  unreadable.report();
}

/** A row of the printed table. */
const toTableRow = ({ tail, longerTail, oldestTailSeconds, sublistTrees, ...others }: ListStatus) => ({
  ...others,
  tail: longerTail ? `more than ${tail}` : tail,
  "oldest in tail": oldestTailSeconds === undefined ? "" : `${oldestTailSeconds} s`,
  sublists: sublistTrees,
});

/** The most rows of a tail that are read. */
const longestTail = 10_000;

/** The state of the counts of a list. */
type ListStatus = Awaited<ReturnType<typeof readStatus>>;

/** Reads the state of the counts of a list. */
async function readStatus(owner: CountedOwner, pace: Pace, unreadable: Unreadable) {
  const root = await readRootOrNote(owner, pace, unreadable);
  const bounds = { start: root?.watermark ?? "", maxRows: longestTail };
  const tail = await pace.retry(() => readRows(owner, bounds));
  await pace.spend(tail.units);
  const [oldest] = tail.rows;
  const sublists = await readSublists(owner, { pace, onMalformed: unreadable.noteMalformed });
  return {
    account: owner.account,
    list: `${owner.list.type}s`,
    /** The number of rows in the tree. */
    counted: root ? countedRows(root) : 0,
    /** The number of rows that are not counted yet, and whether there are more. */
    tail: tail.rows.length,
    longerTail: tail.next !== undefined,
    /** The age of the oldest row that is not counted, in seconds. */
    oldestTailSeconds: oldest && Math.max(0, Math.round((tableTime() - idTimestamp(oldest.sk)) / 1000)),
    /** About how many counted rows are not in the trees of their sublists yet. */
    unfed: root?.unfed ?? 0,
    /** The levels of nodes; undefined without a tree. */
    levels: root?.level,
    generation: root?.generation,
    version: root?.version,
    /** The number of sublists with trees of their own. */
    sublistTrees: sublists.length,
  };
}

/** Reads the root of a tree, and notes damage. @returns nothing if it is missing or malformed */
async function readRootOrNote(
  owner: CountedOwner,
  pace: Pace,
  { note }: Unreadable,
): Promise<Root | undefined> {
  try {
    const root = await pace.retry(() => readRoot(owner));
    await pace.spend(1);
    return root;
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    note(treeKey(owner, "root"), error.message);
    return error.root;
  }
}
