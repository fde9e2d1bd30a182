import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import type { CountedOwner, SublistOwner } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { isTreeChanged } from "../tree/tree-store.ts";
import type { RowChange } from "./changes.ts";
import { type FeedState, feedSourceTrees } from "./feed-source-trees.ts";
import { inParallel } from "./in-parallel.ts";
import { type ListState, newListState, stepList } from "./list-step.ts";
import { type SublistState, stepFilling, stepSublist } from "./sublist-step.ts";
import { type Maintenance, type TreeState, TreeSteps } from "./tree-steps.ts";

/** What a maintainer has done for a list. */
export interface Maintained {
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
  const steps = new TreeSteps(maintenance);
  let done: Maintained = { rest: rows, list: undefined };
  try {
    do {
      const part = done.rest.slice(0, rowsAtOnce);
      const changed = part.flatMap(({ key, kind }) => (kind === "created" ? [] : key));
      const list = await steps.take(newListState(changed), (state, means) => stepList(owner, state, means));
      // The trees of an erased account stay away.
      if (list.root.expiresAt !== undefined) return { rest: [], list };
      done = { ...done, list };
      await countInSublists(owner, part, list.root, steps);
      done = { rest: done.rest.slice(part.length), list };
    } while (done.rest.length > 0);
    await feedSublists(owner, done.list?.root, steps);
    return done;
  } catch (error) {
    const isTimeUp = error instanceof TooExpensiveError || isTreeChanged(error);
    // To continue with the tail, the last record comes again.
    const rest = done.rest.length > 0 ? done.rest : rows.slice(-1);
    return { ...done, rest, ...(!isTimeUp && { error }) };
  }
}

/** Counts rows in the sublists that have or had them. @param root that of the list, read after the commit of the list for them */
async function countInSublists(
  owner: CountedOwner,
  rows: readonly RowChange[],
  { fed = "" }: Root,
  steps: TreeSteps,
): Promise<void> {
  await inParallel(partBySublist(owner, rows, fed), async ({ owner, first }) => {
    const { root } = await steps.take(first, (state, means) => stepSublist(owner, state, fed, means));
    await fillTree(owner, root, steps);
  });
}

/** Feeds the sublists while that pays. */
async function feedSublists(owner: CountedOwner, root: Root | undefined, steps: TreeSteps): Promise<void> {
  const first: FeedState = { root, more: true, filling: [] };
  await steps.take(first, async (state, means) => {
    const fed = await feedSourceTrees(owner, state, means);
    await inParallel(fed.filling, (sublist) => fillTree(sublist, undefined, steps));
    return fed;
  });
}

/** Completes the tree of a sublist, if it was emptied. @param root as it was committed last; undefined to read it */
async function fillTree(owner: SublistOwner, root: Root | undefined, steps: TreeSteps): Promise<void> {
  const first: TreeState = { root, more: true };
  await steps.take(first, (state, means) => stepFilling(owner, state, means));
}

/**
 * The rows of a batch that concern the tree of each sublist, as the state before its first step.
 *
 * @param fed rows that routes created from here on are fed
 */
function partBySublist(
  { account, list }: CountedOwner,
  rows: readonly RowChange[],
  fed: string,
): { readonly owner: SublistOwner; readonly first: SublistState }[] {
  const concerned = rows.filter(({ key, kind }) => kind === "changed" || key < fed);
  const origins = new Set(concerned.flatMap(({ origins }) => origins));
  return [...origins].map((origin) => {
    const own = concerned.filter((row) => row.origins.includes(origin));
    const isChanged = own.some(({ kind }) => kind === "changed");
    const sks = own.map(({ key }) => key);
    return { owner: { account, list, origin }, first: { root: undefined, more: true, sks, isChanged } };
  });
}
