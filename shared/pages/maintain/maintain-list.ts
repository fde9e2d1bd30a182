import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner, SublistOwner } from "../tree/counted-list.ts";
import { isTreeChanged } from "../tree/tree-store.ts";
import type { RowChange } from "./changes.ts";
import { feedSourceTrees } from "./feed-source-trees.ts";
import { type ListState, stepList } from "./list-step.ts";
import { MaintainedTree, type Maintenance, stepMeans } from "./maintained-tree.ts";
import { type SublistState, stepFilling, stepSublist } from "./sublist-step.ts";

/** What a maintainer has done for a list. */
interface Maintained {
  /** The rows whose records have to come again, the last ones of all. */
  readonly rest: readonly RowChange[];
  /** What the list was like after its last step; undefined if there was none. */
  readonly list: ListState | undefined;
  /** The error that ended it before everything was counted, for which a retry does not help. */
  readonly error?: unknown;
}

/** How many rows are counted before those that follow them in the stream: of a batch that is not finished, the rest comes again. */
const rowsAtOnce = 250;

/**
 * Updates the trees of a list for rows that were created, changed or deleted: first that of the whole list, then those of
 * the sublists that have or had changed rows, and then those that new rows are fed to. It retries until the deadline while
 * other commits come first or the table is busy; a damaged tree is emptied and counted again.
 *
 * @param rows in the order of the stream
 */
export async function maintainList(
  owner: CountedOwner,
  rows: readonly RowChange[],
  maintenance: Maintenance,
): Promise<Maintained> {
  const whole = new MaintainedTree(owner, stepMeans(maintenance));
  let done: Maintained = { rest: rows, list: undefined };
  /** By their sublists, of which several parts may have rows. */
  const emptied = new Map<string, MaintainedTree<SublistOwner>>();
  try {
    do {
      const part = done.rest.slice(0, rowsAtOnce);
      whole.forget();
      const changed = part.flatMap(({ key, kind }) => (kind === "created" ? [] : key));
      const list = await whole.take<ListState>({ more: true, changed }, (state) => stepList(whole, state));
      // The trees of an erased account stay away.
      if ((await whole.root()).expiresAt !== undefined) return { rest: [], list };
      done = { ...done, list };
      for (const tree of await countInSublists(whole, part)) emptied.set(tree.owner.origin, tree);
      done = { rest: done.rest.slice(part.length), list };
    } while (done.rest.length > 0);
    // All from one reading of the list.
    await fillTrees(whole, [...emptied.values()]);
    emptied.clear();
    await whole.take({ more: true }, async () => {
      const { more, filling } = await feedSourceTrees(whole);
      await fillTrees(whole, filling);
      return { more };
    });
    return done;
  } catch (error) {
    const isTimeUp = error instanceof TooExpensiveError || isTreeChanged(error);
    // If trees are not filled, all records come again; otherwise the last one, to continue with the tail.
    const again = emptied.size > 0 ? rows : done.rest;
    const rest = again.length > 0 ? again : rows.slice(-1);
    return { ...done, rest, ...(!isTimeUp && { error }) };
  }
}

/**
 * Counts rows in the sublists that have or had them, after the commit of the list for these rows.
 *
 * @returns the trees that were emptied and have to be filled
 */
async function countInSublists(whole: MaintainedTree, rows: readonly RowChange[]) {
  const { fed = "" } = await whole.root();
  // Rows that routes created from here on are fed.
  const concerned = rows.filter(({ key, kind }) => kind === "changed" || key < fed);
  const origins = new Set(concerned.flatMap(({ origins }) => origins));
  const emptied: MaintainedTree<SublistOwner>[] = [];
  await inParallel([...origins], async (origin) => {
    const own = concerned.filter((row) => row.origins.includes(origin));
    const isChanged = own.some(({ kind }) => kind === "changed");
    const first = { more: true, sks: own.map(({ key }) => key), isChanged };
    const tree = new MaintainedTree({ ...whole.owner, origin }, whole.means);
    await tree.take<SublistState>(first, (state) => stepSublist(tree, state, fed));
    if ((await tree.root()).filling !== undefined) emptied.push(tree);
  });
  return emptied;
}

/** Completes trees that were emptied. */
async function fillTrees(whole: MaintainedTree, trees: readonly MaintainedTree<SublistOwner>[]) {
  if (trees.length > 0) await whole.take({ more: true }, () => stepFilling(whole, trees));
}
